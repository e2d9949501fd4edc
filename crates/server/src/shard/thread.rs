//! Threads for shards, begun when they are needed.

use std::io;
use std::sync::Arc;

use mio::{Poll, Waker};

use super::load;
use super::mailbox::Post;
use super::shared::Shared;
use super::turn::{Shard, WAKER};

/// Starts the shard with this number.
pub(super) fn start(shared: &Arc<Shared>, shard: u16) -> io::Result<()> {
    let poll = Poll::new()?;
    let post = Post::new(Waker::new(poll.registry(), WAKER)?);
    let owner = Arc::clone(shared);
    let builder = std::thread::Builder::new().name(format!("shard-{shard}"));
    let mut threads = shared.threads.lock();
    if shared.post(shard.into()).is_some() {
        // Two have found at once that it is needed; the other has started it.
        return Ok(());
    }
    // The thread must find its mailbox, or it falls asleep without saying so.
    shared.set_post(shard.into(), post);
    threads.push(builder.spawn(move || Shard::new(owner, shard, poll).run())?);
    Ok(())
}

/// The first shard, for whoever takes its turns himself.
#[cfg(feature = "measure")]
pub(super) fn start_still(shared: &Arc<Shared>) -> io::Result<Shard> {
    let poll = Poll::new()?;
    shared.set_post(0, Post::new(Waker::new(poll.registry(), WAKER)?));
    Ok(Shard::new(Arc::clone(shared), 0, poll))
}

/// Which shard the next connection goes to. It is started if it does not run yet.
pub(super) fn choose(shared: &Arc<Shared>) -> u16 {
    let loads: Vec<u32> = shared.running().map(Post::load).collect();
    let shard = load::choose(&loads, shared.workers()).unwrap_or_else(|| match start(shared, loads.len() as u16) {
        Ok(()) => loads.len(),
        Err(error) => {
            logging::log!(SERVER, Warning, "Cannot start another worker thread: {error}");
            0
        }
    });
    // There are fewer shards than 2^16.
    shard as u16
}
