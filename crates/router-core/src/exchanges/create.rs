//! Exchanges and bindings come and go.

use super::{Binding, Exchange, ExchangeCounters, Key, Keys, NextHop, place};
use crate::address::Within;
use crate::address::key::{parse, phase_char, write_key};
use crate::arena::NONE;
use crate::core::Core;
use crate::{
    BindingError, BindingSnapshot, ExchangeError, ExchangeSnapshot, Host, Level, Module, NewBinding, NewExchange, Now,
    Treatment,
};

/// The key of a binding that was given none.
const ANYTHING: &str = "#";

impl<H: Host> Core<H> {
    /// Creates an exchange, which takes the messages of its address from now on. Returns its identity.
    ///
    /// # Errors
    /// What is wrong with it, in the old router's words; nothing is changed then.
    pub fn create_exchange(&mut self, now: Now, host: &mut H, new: NewExchange) -> Result<u64, ExchangeError> {
        self.tick(now);
        if self.exchanges.addresses.contains(&new.address) {
            return Err(ExchangeError::AddressInUse);
        }
        if self.exchanges.names.contains_key(&new.name) {
            return Err(ExchangeError::NameInUse);
        }
        let (addr, _) = self.keep_address(&new.address, new.phase);
        // Two texts may name one address.
        if self.addresses[addr].within != Within::Nothing {
            self.give_up_address(addr);
            return Err(ExchangeError::AddressInUse);
        }
        let alternate = new.alternate_address.clone().map(|text| self.next_hop(text, new.alternate_phase));
        let (id, method) = (self.next_identity(), new.match_method);
        let (name, address) = (new.name.clone(), new.address.clone());
        let exchange = Exchange {
            id,
            given: new,
            addr,
            keys: Keys::new(method),
            bindings: Vec::new(),
            hops: Vec::new(),
            alternate,
            at_work: false,
            counters: ExchangeCounters::default(),
        };
        let at = place(&mut self.exchanges.all, Box::new(exchange));
        self.exchanges.by_id.insert(id, at);
        host.log(Module::Agent, Level::Debug, format_args!("Exchange {name} CREATED (id={id})"));
        self.exchanges.names.insert(name, at);
        self.exchanges.addresses.insert(address);
        self.begin_exchange(host, addr, at);
        Ok(id)
    }

    /// Creates a binding. Returns its identity.
    ///
    /// # Errors
    /// What is wrong with it, in the old router's words; nothing is changed then.
    pub fn create_binding(&mut self, now: Now, host: &mut H, new: NewBinding) -> Result<u64, BindingError> {
        use BindingError as E;
        self.tick(now);
        let at = self.exchanges.names.get(&new.exchange).copied().ok_or(E::NoExchange)?;
        let exchange = self.exchanges.at(at).ok_or(E::NoExchange)?;
        let text = new.key.as_deref().unwrap_or(ANYTHING);
        let key = Key::parse(exchange.given.match_method, text).ok_or(E::InvalidKey)?;
        let (hop_text, phase) = (new.next_hop.clone(), new.next_hop_phase);
        let mut same_hop = None;
        for (place, hop) in exchange.hops.iter().enumerate() {
            if hop.as_ref().is_some_and(|hop| hop.text == hop_text && hop.phase == phase) {
                same_hop = Some(place as u32);
            }
        }
        for other in exchange.bindings() {
            if new.name.is_some() && other.given.name == new.name {
                return Err(E::NameInUse);
            }
            if other.key == key && Some(other.hop) == same_hop {
                return Err(E::AlreadyExists);
            }
        }
        let made = if same_hop.is_some() { None } else { Some(self.next_hop(hop_text, phase)) };
        let id = self.next_identity();
        host.log(
            Module::Agent,
            Level::Debug,
            format_args!("Exchange {} Binding {text} -> {} CREATED (id={id})", new.exchange, new.next_hop),
        );
        let exchange = self.exchanges.at_mut(at).ok_or(E::NoExchange)?;
        let hop = match (same_hop, made) {
            (Some(hop), _) => hop,
            (None, Some(made)) => place(&mut exchange.hops, made),
            (None, None) => return Err(E::NoExchange),
        };
        if let Some(hop) = exchange.hops[hop as usize].as_mut() {
            hop.bindings += 1;
        }
        let given = NewBinding { key: Some(text.to_owned()), ..new };
        let binding = Binding { id, given, key: key.clone(), hop, matched: 0 };
        let binding = place(&mut exchange.bindings, binding);
        exchange.keys.insert(&key, binding);
        self.exchanges.bindings.insert(id, at);
        Ok(id)
    }

    /// Deletes an exchange, with its bindings; false: there is none with this identity.
    pub fn delete_exchange(&mut self, now: Now, host: &mut H, id: u64) -> bool {
        self.tick(now);
        let Some(at) = self.exchanges.by_id.remove(&id) else { return false };
        let Some(exchange) = self.exchanges.all.get_mut(at as usize).and_then(Option::take) else { return false };
        self.exchanges.names.remove(&exchange.given.name);
        self.exchanges.addresses.remove(&exchange.given.address);
        host.log(Module::Agent, Level::Debug, format_args!("Exchange {} DELETED (id={id})", exchange.given.name));
        for binding in exchange.bindings() {
            self.exchanges.bindings.remove(&binding.id);
        }
        for hop in exchange.hops.iter().flatten().chain(&exchange.alternate) {
            self.give_up_address(hop.addr);
        }
        self.end_exchange(host, exchange.addr);
        self.give_up_address(exchange.addr);
        true
    }

    /// Deletes a binding; false: there is none with this identity.
    pub fn delete_binding(&mut self, now: Now, host: &mut H, id: u64) -> bool {
        self.tick(now);
        let Some(at) = self.exchanges.bindings.remove(&id) else { return false };
        let Some(exchange) = self.exchanges.at_mut(at) else { return false };
        let Some(place) = exchange.bindings.iter().position(|binding| binding.as_ref().is_some_and(|b| b.id == id))
        else {
            return false;
        };
        let Some(binding) = exchange.bindings[place].take() else { return false };
        exchange.keys.remove(&binding.key, place as u32);
        let NewBinding { exchange: name, key, next_hop, .. } = &binding.given;
        let key = key.as_deref().unwrap_or(ANYTHING);
        host.log(
            Module::Agent,
            Level::Debug,
            format_args!("Binding {key} -> {next_hop} on exchange {name} DELETED (id={id})"),
        );
        if let Some(addr) = exchange.leave_hop(binding.hop) {
            self.give_up_address(addr);
        }
        true
    }

    /// All exchanges, in order of identity.
    pub fn exchanges(&self) -> Vec<ExchangeSnapshot<'_>> {
        self.exchanges.snapshots()
    }

    /// All bindings, in order of identity.
    pub fn bindings(&self) -> Vec<BindingSnapshot<'_>> {
        self.exchanges.binding_snapshots()
    }

    fn next_hop(&mut self, text: String, phase: u8) -> NextHop {
        let (addr, to) = self.keep_address(&text, phase);
        NextHop { addr, to: to.into(), text, phase, bindings: 0, chosen: 0 }
    }

    /// The address with this text and phase, which stays until it is given up; and its text without what says nothing.
    fn keep_address(&mut self, text: &str, phase: u8) -> (u32, String) {
        let parsed = parse(text, &self.settings.router_id, self.settings.mode);
        let mut making = self.making(&parsed, "");
        // That nobody may attach does not concern the exchange.
        if making.treatment == Treatment::Unavailable {
            making.treatment = Treatment::Balanced;
        }
        let to = parsed.text.to_owned();
        let mut key = String::new();
        write_key(&mut key, &parsed, phase_char(phase), "");
        let addr = self.find_or_make(&key, making);
        self.addresses[addr].named += 1;
        (addr, to)
    }

    pub(crate) fn give_up_address(&mut self, addr: u32) {
        self.addresses[addr].named -= 1;
        self.drop_if_idle(addr);
    }

    /// An address has an exchange: its senders have a destination, and messages are read as far as their subject.
    fn begin_exchange(&mut self, host: &mut H, addr: u32, at: u32) {
        let alone = self.has_no_receiver_here(addr);
        self.addresses[addr].within = Within::Exchange(at);
        if alone {
            self.announce(host, addr, true);
        }
        self.destinations_changed(host, addr);
        let mut sender = self.addresses[addr].senders.head;
        while sender != NONE {
            let link = &self.links[sender];
            if link.opened {
                host.look_deeper(link.host);
            }
            sender = link.addr_next;
        }
    }

    fn end_exchange(&mut self, host: &mut H, addr: u32) {
        self.addresses[addr].within = Within::Nothing;
        if self.has_no_receiver_here(addr) {
            self.announce(host, addr, false);
        }
        self.destinations_changed(host, addr);
    }
}

impl Exchange {
    /// A binding that named a next hop is gone. Returns the hop's address if it was the last, so that nothing names it.
    fn leave_hop(&mut self, at: u32) -> Option<u32> {
        if self.bindings().count() * 2 < self.bindings.len() {
            self.arrange();
        }
        let hop = self.hops.get_mut(at as usize)?;
        let left = hop.as_mut()?;
        left.bindings -= 1;
        if left.bindings > 0 {
            return None;
        }
        hop.take().map(|hop| hop.addr)
    }

    /// Forgets the places of bindings that are gone, and what only their keys needed.
    fn arrange(&mut self) {
        self.bindings.retain(Option::is_some);
        self.keys = Keys::new(self.given.match_method);
        for (at, binding) in self.bindings.iter().enumerate() {
            if let Some(binding) = binding {
                self.keys.insert(&binding.key, at as u32);
            }
        }
    }
}
