//! What was written, and is it still there? The log under durable queues: entries of opaque parts, written once by one
//! thread, many with one sync, and checked whenever they are read.
//!
//! ```no_run
//! # use queue_log::{Entry, HostError, Log, Need, Notice, RealDisk, Recover, Settings, Watcher};
//! # use std::{io::{Read, Write}, sync::Arc};
//! struct Host;
//! impl Recover for Host {
//!     fn snapshot(&mut self, _index: u64, from: &mut dyn Read) -> Result<(), HostError> {
//!         // the state after entry `index`
//!         let mut state = Vec::new();
//!         from.read_to_end(&mut state)?;
//!         Ok(())
//!     }
//!     fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
//!         // what happened after it, one by one
//!         println!("{}: {:?}", entry.index(), entry.part(0));
//!         Ok(())
//!     }
//! }
//! struct Mailbox;
//! impl Watcher for Mailbox {
//!     fn durable(&self, up_to: u64) {} // confirm entries up to this one
//!     fn notice(&self, notice: Notice) { eprintln!("{notice}") }
//! }
//!
//! let log = Log::open(Arc::new(RealDisk), Settings::new("/var/lib/store"), Arc::new(Mailbox), &mut Host)?;
//! let body = b"a message".to_vec();
//! let held = body.len() as u64;
//! let index = log.append(vec![b"what to do with it".to_vec().into(), body.into()], held, Need::Ordinary)?;
//! // … once durable:
//! assert_eq!(log.read_part(index, 1)?, b"a message");
//! log.release(index, held);
//! log.checkpoint(index, |to| to.write_all(b"the state after this entry"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A store is a directory; `docs/store-format.md` of the repository describes its files. What the log promises:
//!
//! - What was reported durable is there after any crash, or opening says which file is corrupt, where, and what to do. It is
//!   never skipped and never served wrong.
//! - What was not reported durable may be there or not, but only as it was appended, and nothing after a gap.
//! - After a write or sync that failed, nothing is accepted until the store is opened again.
//!
//! This crate deliberately does not know what entries mean: no queues, no AMQP.
#![forbid(unsafe_code)]

mod checkpoint;
mod checksum;
mod copy;
#[cfg(test)]
mod crash;
mod disk;
mod entry;
mod error;
#[cfg(any(test, feature = "testing"))]
pub mod forge;
mod format;
mod inspect;
mod keeper;
mod large;
mod log;
mod points;
mod presence;
mod read;
mod recover;
mod recovery;
mod segment;
mod settings;
mod shared;
mod snapshot;
mod stats;
mod window;
mod writer;

pub use copy::{Copied, restore};
pub use disk::{Disk, DiskFile, Mode, RealDisk};
#[cfg(any(test, feature = "testing"))]
pub use disk::{Fault, FaultyDisk};
pub use entry::{Entry, Need, Part};
pub use error::{HostError, LogError, OpenError, ReadError};
pub use inspect::{Item, Missing, Problem, Verified, dump, verify};
pub use large::{Kept, LargeReader, LargeWriter};
pub use log::{Log, Sparse};
pub use read::Reader;
pub use recover::{Inventory, Recover};
pub use settings::{Notice, Settings, Watcher};
pub use stats::{Condition, SYNC_BOUNDS, Stats};
