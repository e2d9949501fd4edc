//! What became of every message: the account against which networks are checked.

use std::collections::{BTreeMap, BTreeSet};

use amqp::DeliveryState;

/// What the sender of a message learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Accepted.
    Accepted,
    /// Rejected.
    Rejected,
    /// Released: nobody has it.
    Released,
    /// Modified: somebody may have seen it.
    Modified,
    /// Settled without a word.
    Silent,
    /// Its connection was lost before it learned anything.
    Unknown,
}

impl Fate {
    pub(crate) fn of(state: Option<&DeliveryState>) -> Self {
        match state {
            Some(DeliveryState::Accepted) => Self::Accepted,
            Some(DeliveryState::Rejected(_)) => Self::Rejected,
            Some(DeliveryState::Released) => Self::Released,
            Some(DeliveryState::Modified(_)) => Self::Modified,
            _ => Self::Silent,
        }
    }
}

/// A receiver: client and link.
pub type Receiver = (usize, usize);

/// A message.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it goes to.
    pub address: String,
    /// It was sent settled.
    pub presettled: bool,
    /// It left its sender.
    pub sent: bool,
    /// What its sender learned, once.
    pub fate: Option<Fate>,
    /// Who got it.
    pub receivers: Vec<Receiver>,
}

impl Entry {
    fn is_multicast(&self) -> bool {
        self.address.starts_with("multicast")
    }
}

/// All messages.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: BTreeMap<u64, Entry>,
    /// Clients that may get a multicast twice.
    tolerant: BTreeSet<usize>,
    next: u64,
}

impl Ledger {
    /// A message that is going to be sent; returns its number.
    pub(crate) fn new_message(&mut self, address: &str, presettled: bool) -> u64 {
        self.next += 1;
        let entry = Entry { address: address.to_owned(), presettled, sent: false, fate: None, receivers: Vec::new() };
        self.entries.insert(self.next, entry);
        self.next
    }

    pub(crate) fn sent(&mut self, id: u64) {
        self.entry(id).sent = true;
    }

    /// The sender learns what became of a message.
    pub(crate) fn fate(&mut self, id: u64, fate: Fate) {
        let entry = self.entry(id);
        assert!(entry.fate.is_none(), "message {id} is settled twice: {fate:?} after {entry:?}");
        if !entry.is_multicast() {
            match fate {
                Fate::Accepted => assert!(!entry.receivers.is_empty(), "message {id} is accepted by nobody: {entry:?}"),
                Fate::Released => {
                    assert!(entry.receivers.is_empty(), "message {id} is released, yet was had: {entry:?}")
                }
                _ => {}
            }
        }
        entry.fate = Some(fate);
    }

    /// A client of an old router may get a multicast twice.
    pub fn tolerate_doubles(&mut self, client: usize) {
        self.tolerant.insert(client);
    }

    /// A receiver got a message.
    pub(crate) fn received(&mut self, id: u64, receiver: Receiver) {
        let tolerant = self.tolerant.contains(&receiver.0);
        let entry = self.entry(id);
        let again =
            if entry.is_multicast() { entry.receivers.contains(&receiver) } else { !entry.receivers.is_empty() };
        if again && tolerant {
            return;
        }
        assert!(!again, "message {id} is doubled: {receiver:?} gets it too: {entry:?}");
        entry.receivers.push(receiver);
    }

    fn entry(&mut self, id: u64) -> &mut Entry {
        self.entries.get_mut(&id).unwrap_or_else(|| panic!("message {id} was never sent"))
    }

    /// A message.
    pub fn get(&self, id: u64) -> &Entry {
        &self.entries[&id]
    }

    /// All messages.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(id, entry)| (*id, entry))
    }

    /// Checks that every message that was sent unsettled has its fate.
    ///
    /// # Panics
    /// If one has none.
    pub fn check_all_settled(&self) {
        for (id, entry) in self.iter() {
            assert!(
                !entry.sent || entry.presettled || entry.fate.is_some(),
                "message {id} is never settled: {entry:?}"
            );
        }
    }
}
