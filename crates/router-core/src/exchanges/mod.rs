//! `exchange` and `binding` entities: addresses whose messages go on to other addresses, depending on their subject.
//!
//! An exchange is a consumer of its address: it takes every message, and sends a settled copy to each address that a
//! binding names whose key fits the subject ([`crate::forward`] does that).

mod create;
mod keys;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::{BindingSnapshot, ExchangeSnapshot, NewBinding, NewExchange};
use keys::{Key, Keys};

/// An address that an exchange sends to. It stays in the table for as long as it is named here.
#[derive(Debug)]
pub(crate) struct NextHop {
    /// The address.
    pub(crate) addr: u32,
    /// What `x-opt-qd.to` says.
    pub(crate) to: Arc<str>,
    /// As given.
    text: String,
    phase: u8,
    /// Bindings that name it.
    bindings: usize,
    /// The last message for it: it is sent each message once.
    chosen: u64,
}

struct Binding {
    id: u64,
    given: NewBinding,
    key: Key,
    /// Place of its next hop.
    hop: u32,
    matched: u64,
}

/// What an exchange has counted, in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExchangeCounters {
    /// Those that came.
    pub(crate) received: u64,
    /// Those that nobody got.
    pub(crate) dropped: u64,
    /// Those that somebody got.
    pub(crate) forwarded: u64,
    /// Those of them that went to the alternate address.
    pub(crate) diverted: u64,
}

/// A valid exchange.
pub(crate) struct Exchange {
    id: u64,
    given: NewExchange,
    addr: u32,
    keys: Keys,
    /// Bindings by their place; places of those gone since are free.
    bindings: Vec<Option<Binding>>,
    hops: Vec<Option<NextHop>>,
    alternate: Option<NextHop>,
    /// It is sending a message on: what comes back to it meanwhile runs in a circle.
    pub(crate) at_work: bool,
    pub(crate) counters: ExchangeCounters,
}

impl Exchange {
    /// The address of the exchange.
    pub(crate) fn addr(&self) -> u32 {
        self.addr
    }

    /// A message came with this subject: the places of the next hops that get it, each once.
    pub(crate) fn take(&mut self, subject: Option<&str>) -> SmallVec<[u32; 8]> {
        self.counters.received += 1;
        let number = self.counters.received;
        let mut chosen = SmallVec::new();
        let Some(subject) = subject else { return chosen };
        let Self { keys, bindings, hops, .. } = self;
        keys.each_match(subject, |at| {
            let Some(binding) = bindings.get_mut(at as usize).and_then(Option::as_mut) else { return };
            binding.matched += 1;
            let Some(hop) = hops.get_mut(binding.hop as usize).and_then(Option::as_mut) else { return };
            if std::mem::replace(&mut hop.chosen, number) != number {
                chosen.push(binding.hop);
            }
        });
        chosen
    }

    /// The next hop at a place.
    pub(crate) fn hop(&self, at: u32) -> Option<&NextHop> {
        self.hops.get(at as usize)?.as_ref()
    }

    /// Where messages go that nobody else gets.
    pub(crate) fn alternate(&self) -> Option<&NextHop> {
        self.alternate.as_ref()
    }

    fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().flatten()
    }
}

/// All exchanges.
#[derive(Default)]
pub(crate) struct Exchanges {
    /// Exchanges by their place; places of those gone since are free.
    all: Vec<Option<Box<Exchange>>>,
    /// Places by identity.
    by_id: BTreeMap<u64, u32>,
    /// Places by name.
    names: BTreeMap<String, u32>,
    addresses: BTreeSet<String>,
    /// Places of the exchanges of bindings, by the identity of these.
    bindings: BTreeMap<u64, u32>,
}

impl Exchanges {
    /// The exchange at a place.
    pub(crate) fn at(&self, at: u32) -> Option<&Exchange> {
        self.all.get(at as usize)?.as_deref()
    }

    /// The exchange at a place.
    pub(crate) fn at_mut(&mut self, at: u32) -> Option<&mut Exchange> {
        self.all.get_mut(at as usize)?.as_deref_mut()
    }

    /// All, in order of identity.
    pub(crate) fn snapshots(&self) -> Vec<ExchangeSnapshot<'_>> {
        let all = self.by_id.values().filter_map(|at| self.at(*at));
        all.map(|exchange| ExchangeSnapshot {
            id: exchange.id,
            given: &exchange.given,
            bindings: exchange.bindings().count() as u64,
            received: exchange.counters.received,
            dropped: exchange.counters.dropped,
            forwarded: exchange.counters.forwarded,
            diverted: exchange.counters.diverted,
        })
        .collect()
    }

    /// All bindings, in order of identity.
    pub(crate) fn binding_snapshots(&self) -> Vec<BindingSnapshot<'_>> {
        let all = self.by_id.values().filter_map(|at| self.at(*at)).flat_map(Exchange::bindings);
        let mut all: Vec<_> = all
            .map(|binding| BindingSnapshot { id: binding.id, given: &binding.given, matched: binding.matched })
            .collect();
        all.sort_unstable_by_key(|binding| binding.id);
        all
    }
}

/// Puts something at the first free place.
fn place<T>(places: &mut Vec<Option<T>>, value: T) -> u32 {
    let at = places.iter().position(Option::is_none).unwrap_or(places.len());
    if at == places.len() {
        places.push(None);
    }
    places[at] = Some(value);
    at as u32
}
