//! Addresses: what has consumers here and elsewhere.

use super::PathEngine;
use crate::local_addresses::Announcement;
use crate::throttle::Topic;
use crate::wire::{ALL_MOBILE_ADDRESS, Body, mobile_address};
use crate::{Hint, Level, Module, NodeIndex, Output};
use std::collections::BTreeMap;

impl PathEngine {
    /// Tells everybody what has changed of this router's addresses.
    pub(super) fn announce(&mut self) {
        let Some(changes) = self.addresses.take_changes(self.now) else { return };
        let mobile_seq = self.addresses.seq;
        let (added, deleted) = (changes.add.len(), changes.del.len());
        self.trace(Module::RouterMa, Level::Debug, || {
            format!("New mobile sequence: mobile_seq={mobile_seq}, addrs_added={added}, addrs_deleted={deleted}")
        });
        if self.floods() {
            let body = Body::AddressChange { mobile_seq, add: changes.add, del: changes.del };
            self.send(ALL_MOBILE_ADDRESS, None, body);
        }
        self.advertise_at = self.now;
    }

    /// A router asks for this router's addresses.
    pub(super) fn addresses_requested(&mut self, id: &str) {
        if let Some(node) = self.find_or_add(id).and_then(|index| self.nodes.get_mut(index)) {
            node.owed.addresses = true;
        }
    }

    pub(super) fn answer_address_request(&mut self, id: &str) {
        self.announce();
        let (mobile_seq, exist) = (self.addresses.seq, self.addresses.announced());
        self.send(&mobile_address(id), None, Body::Addresses { mobile_seq, exist });
        self.trace(Module::RouterMa, Level::Debug, || format!("Sent MAU to requestor: mobile_seq={mobile_seq}"));
    }

    /// Asks a router for all its addresses. The old router answers only who has fewer than it: so this says 0, whatever
    /// is here, because equal numbers need not mean equal addresses.
    pub(super) fn request_addresses(&mut self, id: &str) {
        let have_seq = 0;
        self.send(&mobile_address(id), None, Body::AddressRequest { have_seq });
        self.trace(Module::RouterMa, Level::Debug, || format!("Send MAR request to router {id}, have_seq={have_seq}"));
    }

    /// A router has said what has changed. It counts only if nothing was missed in between.
    pub(super) fn address_change(&mut self, id: &str, seq: i64, add: Vec<(String, Option<Hint>)>, del: &[String]) {
        let Some(index) = self.nodes.find(id) else { return };
        let Some(node) = self.nodes.get_mut(index) else { return };
        if seq == node.mobile_seq && !node.address_fetch.needed {
            return;
        }
        if node.instance.is_none() || node.address_fetch.needed || seq != node.mobile_seq.saturating_add(1) {
            node.address_fetch.needed = true;
            return;
        }
        node.mobile_seq = seq;
        node.address_fetch.advertised = Some(seq);
        node.address_fetch.answered(seq);
        let change = Announcement { add, del: del.to_vec() };
        node.latest = (node.shares && change.is_small()).then(|| (seq, change.clone()));
        for key in del {
            self.remove_address(index, key);
        }
        for (key, hint) in change.add {
            self.add_address(index, key, hint);
        }
        self.share(index);
    }

    /// A router has said all its addresses.
    pub(super) fn all_addresses(&mut self, id: &str, seq: i64, exist: Vec<(String, Option<Hint>)>) {
        let Some(index) = self.nodes.find(id) else { return };
        let Some(node) = self.nodes.get_mut(index) else { return };
        node.mobile_seq = seq;
        node.address_fetch.answered(seq);
        let exist: BTreeMap<String, Option<Hint>> = exist.into_iter().collect();
        let gone: Vec<String> = node.addresses.keys().filter(|key| !exist.contains_key(*key)).cloned().collect();
        for key in gone {
            self.remove_address(index, &key);
        }
        for (key, hint) in exist {
            self.add_address(index, key, hint);
        }
        self.share(index);
    }

    fn add_address(&mut self, index: NodeIndex, key: String, hint: Option<Hint>) {
        if !is_mobile(&key) {
            return;
        }
        let max = self.config.max_addresses;
        let Some(node) = self.nodes.get_mut(index) else { return };
        if node.addresses.get(&key) == Some(&hint) {
            return;
        }
        if node.addresses.len() >= max && !node.addresses.contains_key(&key) {
            if self.throttle.says(self.now, Topic::TooManyAddresses, &node.id) {
                let text = format!("Router {} has more than {max} addresses: {key} and others are left out", node.id);
                self.log(Module::RouterMa, Level::Warning, text);
            }
            return;
        }
        node.addresses.insert(key.clone(), hint);
        self.outputs.push_back(Output::RemoteAddress { index, key, hint, present: true });
    }

    fn remove_address(&mut self, index: NodeIndex, key: &str) {
        let Some(node) = self.nodes.get_mut(index) else { return };
        if let Some((key, hint)) = node.addresses.remove_entry(key) {
            self.outputs.push_back(Output::RemoteAddress { index, key, hint, present: false });
        }
    }
}

/// Whether a key is of a class that routers tell each other of.
fn is_mobile(key: &str) -> bool {
    matches!(key.as_bytes().first(), Some(b'M' | b'C' | b'D' | b'E' | b'F' | b'H'))
}
