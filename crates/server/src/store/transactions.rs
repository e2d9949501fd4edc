//! Local transactions: what is sent and settled within one takes effect at its discharge, all of it or nothing.

mod coordinator;
mod discharge;
mod enlisting;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use amqp::condition::names;
use amqp::{DeliveryState, ErrorCondition};
use queue_core::{AcqId, Command};

use super::acquisition::Acquired;
use super::links::{Arrival, Side};
use crate::content::Whole;

pub(super) use coordinator::{CREDIT, Coordinator};

/// Bytes that all open transactions hold at most, so that nobody fills the memory with them.
pub(super) const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// What a message in a transaction counts for beside its bytes.
const OVERHEAD: u64 = 512;

/// Commands and the messages that belong to them, by side.
type Sends = ([Vec<Command>; 2], [Vec<Arc<Whole>>; 2]);

/// All transactions.
#[derive(Default)]
pub(super) struct Transactions {
    open: HashMap<u64, Transaction>,
    last: u64,
    /// Bytes that they hold.
    bytes: u64,
    /// What receivers have spoken of first, and settled before the transaction was over: what that means if it is rolled
    /// back.
    settled: HashMap<AcqId, DeliveryState>,
    /// Names of those whose end has been asked for, and waits for messages that are part of them.
    ending: Vec<Vec<u8>>,
    /// Names that messages say which wait for their queue to be made.
    early: Vec<Vec<u8>>,
    /// Nobody guesses the name of a transaction that he was not told: the number is signed with this.
    secret: RandomState,
}

/// A transaction.
#[derive(Default)]
pub(super) struct Transaction {
    /// By side.
    sends: [Vec<Command>; 2],
    bodies: [Vec<Arc<Whole>>; 2],
    /// Those that they count for.
    bytes: u64,
    /// What receivers have said.
    pub(super) retired: Vec<Retired>,
    /// Why it cannot be committed any more.
    spoilt: Option<ErrorCondition>,
    /// What has left in it.
    pub(super) acquired: BTreeMap<AcqId, Acquired>,
    /// Links whose messages leave in it.
    pub(super) receivers: BTreeSet<u32>,
    /// Its end has been asked for.
    pub(super) over: bool,
    /// What is to happen in memory alone once the rest is on disk, for only then is it certain.
    last: Option<(Vec<Command>, Vec<Arc<Whole>>)>,
    /// It ends when messages that are part of it are on disk, filters have been asked, and queues made: who has asked for it, and whether it is to fail.
    ending: Option<(Arrival, bool)>,
}

/// A delivery that a receiver has spoken of within a transaction.
pub(super) struct Retired {
    pub(super) side: Side,
    pub(super) acquisition: AcqId,
    /// What it comes to if the transaction is committed. As long as it is here, the message is held for it, whether its
    /// receiver is still there or not.
    pub(super) command: Option<Command>,
    pub(super) link: u32,
    pub(super) id: u32,
    /// It is settled already as far as the receiver goes.
    pub(super) settled: bool,
}

impl Transactions {
    /// Bytes that they hold.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A message that is part of a transaction waits for its queue to be made.
    pub(super) fn await_early(&mut self, name: &[u8]) {
        self.early.push(name.to_vec());
    }

    /// It waits no more.
    pub(super) fn early_over(&mut self, name: &[u8]) {
        if let Some(at) = self.early.iter().position(|early| early == name) {
            self.early.swap_remove(at);
        }
    }

    /// Whether there is one.
    pub(super) fn is_awaited_early(&self, name: &[u8]) -> bool {
        self.early.iter().any(|early| early == name)
    }

    pub(super) fn name(&self, txn: u64) -> Vec<u8> {
        [txn.to_be_bytes(), self.secret.hash_one(txn).to_be_bytes()].concat()
    }

    /// The transaction of this name, as long as something can become part of it.
    pub(super) fn number(&self, name: &[u8]) -> Option<u64> {
        let txn = u64::from_be_bytes(*name.first_chunk()?);
        (name == self.name(txn) && self.open.get(&txn).is_some_and(|open| !open.over)).then_some(txn)
    }

    pub(super) fn open_mut(&mut self, txn: u64) -> Option<&mut Transaction> {
        self.open.get_mut(&txn)
    }

    /// Takes the messages out of a transaction: they are sent now, or never.
    fn take_sends(&mut self, txn: u64) -> Sends {
        let Some(open) = self.open.get_mut(&txn) else { return Default::default() };
        self.bytes -= std::mem::take(&mut open.bytes);
        (std::mem::take(&mut open.sends), std::mem::take(&mut open.bodies))
    }

    /// Takes all that a transaction comes to out of it, in the order of its commands: it is to be done now.
    fn take_all(&mut self, txn: u64) -> Sends {
        let (mut commands, bodies) = self.take_sends(txn);
        for retired in self.open.get_mut(&txn).into_iter().flat_map(|open| &mut open.retired) {
            let commands = &mut commands[retired.side as usize];
            let Some(command) = retired.command.take() else { continue };
            if !commands.last_mut().is_some_and(|last| last.absorb(&command)) {
                commands.push(command);
            }
        }
        (commands, bodies)
    }
}

pub(super) fn unknown() -> ErrorCondition {
    let text = "There is no such transaction: it is over, or another coordinator's";
    ErrorCondition::new(names::TRANSACTION_UNKNOWN_ID, text)
}

fn rejected(error: ErrorCondition) -> DeliveryState {
    DeliveryState::Rejected(Some(Box::new(error)))
}
