//! The files of a store: any bytes at all are a segment, a snapshot or a large message, or they are refused; with checksums
//! that hold as well.
//!
//! The first byte says what the rest is.
#![no_main]

use libfuzzer_sys::arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use queue_log::forge::{self, Forged};
use queue_log::{Entry, FaultyDisk, HostError, Inventory, Item, Log, Notice, Recover, Settings, Watcher, dump, verify};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

const STORE: &str = "/store";
/// Bytes that the log holds whatever is in its files: what it reads at once, of a few files.
const USUAL: usize = 8 * 1024 * 1024;

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    let disk = FaultyDisk::new(1);
    let put = |name: &str, bytes| disk.put(&Path::new(STORE).join(name), bytes);
    put("store", forge::identity(9, (0, 0)));
    put("lock", Vec::new());
    match kind % 6 {
        0 => put("log/segment-000000000001", rest.to_vec()),
        1 => {
            put("snapshot-00000000000000000007", rest.to_vec());
            put("log/segment-000000000001", forge::segment(1, &[], &[0; 8192], 8192));
        }
        2 => put("log/segment-000000000001", forged(rest)),
        3 => {
            put("snapshot-00000000000000000007", forge::snapshot(7, rest));
            put("log/segment-000000000001", forge::segment(1, &entries(), &[0; 8192], 8192));
        }
        4 => put("log/segment-000000000001", patched(rest)),
        _ => put("large/message-000000000003", rest.to_vec()),
    }
    let ((), peak) = fuzz::peak(|| look(&disk));
    assert!(peak < USUAL + 64 * data.len(), "{peak} bytes held for an input of {}", data.len());
});

/// Ten entries as they should be.
fn entries() -> Vec<Forged> {
    let entry =
        |index| Forged { kind: 1, start: 4096, index, run: 3, parts: vec![vec![1; 20]; 3], ..Forged::default() };
    (1..=10).map(entry).collect()
}

/// Records of a script.
fn forged(script: &[u8]) -> Vec<u8> {
    let mut script = Unstructured::new(script);
    let mut records = Vec::new();
    while let Ok(record) = one(&mut script) {
        if script.is_empty() || records.len() > 100 {
            break;
        }
        records.push(record);
    }
    let size = script.arbitrary().unwrap_or(8192_u16);
    forge::segment(1, &records, &vec![0; 8192], u32::from(size))
}

fn one(script: &mut Unstructured<'_>) -> libfuzzer_sys::arbitrary::Result<Forged> {
    let wild = script.ratio(1, 4)?;
    Ok(Forged {
        kind: if wild { u8::arbitrary(script)? } else { script.int_in_range(1..=3)? },
        more_parts: if wild { u32::arbitrary(script)? } else { 0 },
        more_bytes: if wild { u32::arbitrary(script)? } else { 0 },
        held: u32::arbitrary(script)?,
        start: if wild { u32::arbitrary(script)? } else { 4096 },
        index: if wild { u64::arbitrary(script)? } else { script.int_in_range(1..=5)? },
        run: script.int_in_range(0..=12)?,
        parts: Arbitrary::arbitrary(script)?,
    })
}

/// A good segment, written over in one place.
fn patched(patch: &[u8]) -> Vec<u8> {
    let mut bytes = forge::segment(1, &entries(), &[0; 8192], 8192);
    let (at, patch) = patch.split_at(patch.len().min(2));
    let at = at.iter().fold(0_usize, |at, byte| at * 256 + usize::from(*byte)) % bytes.len();
    for (byte, patch) in bytes[at..].iter_mut().zip(patch) {
        *byte = *patch;
    }
    bytes
}

/// Everything that one does with a store.
fn look(disk: &FaultyDisk) {
    let dir = Path::new(STORE);
    let verified = verify(disk, dir, &mut Host { next: None }).expect("the disk does not fail");
    let mut whole = Vec::new();
    let flow = dump(disk, dir, &mut |item| {
        if let Item::Entry { entry, .. } = item {
            whole.push(entry.index());
        }
        ControlFlow::Continue(())
    });
    assert!(flow.expect("the disk does not fail").is_continue());
    let settings = Settings { segment_bytes: 8192, ..Settings::new(STORE) };
    let mut host = Host { next: None };
    match Log::open_without_threads(Arc::new(disk.clone()), settings, Arc::new(Nobody), &mut host) {
        Ok(log) => {
            assert!(verified.problems.is_empty() || verified.last == log.durable(), "{verified:?}");
            for index in (1..=log.durable()).take(200) {
                let _ = log.read_part(index, 0);
                let _ = log.read(index, 1, 100);
            }
            if let Ok(mut large) = log.open_large(3) {
                let mut at = 0;
                while let Ok(bytes) = large.read(at, 10_000) {
                    if bytes.is_empty() {
                        break;
                    }
                    at += bytes.len() as u64;
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty() && !verified.problems.is_empty(), "{error}"),
    }
}

/// A host that wants entries in order.
struct Host {
    next: Option<u64>,
}

impl Inventory for Host {
    fn large(&self) -> Vec<(u64, String)> {
        vec![(3, "a message".to_owned())]
    }
}

impl Recover for Host {
    fn snapshot(&mut self, index: u64, from: &mut dyn Read) -> Result<(), HostError> {
        self.next = Some(index + 1);
        std::io::copy(from, &mut std::io::sink())?;
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), HostError> {
        assert!(self.next.unwrap_or(1) == entry.index(), "entries come in order");
        self.next = Some(entry.index() + 1);
        assert_eq!(entry.parts().count(), entry.len());
        Ok(())
    }
}

struct Nobody;

impl Watcher for Nobody {
    fn durable(&self, _: u64) {}
    fn notice(&self, notice: Notice) {
        assert!(!notice.to_string().is_empty());
    }
}
