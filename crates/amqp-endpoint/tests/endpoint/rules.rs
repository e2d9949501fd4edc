//! What an endpoint may say and when (part 2, sections 2.4 to 2.6), as a judge that reads along.

use std::collections::{BTreeMap, BTreeSet};

use amqp::performative::{Performative, Role};

use crate::scripted::Answer;

/// What an endpoint has said so far, as far as it decides what it may say next.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    open: bool,
    closed: bool,
    /// Channels begun and not ended, with the handles attached on each, and whether the endpoint sends on them.
    channels: BTreeMap<u16, BTreeMap<u32, bool>>,
    /// Deliveries whose last frame is to come.
    unfinished: BTreeSet<(u16, u32)>,
    next_delivery: BTreeMap<u16, u32>,
}

impl Rules {
    /// Says what is wrong with the next frame, if anything is.
    pub(crate) fn judge(&mut self, answer: &Answer) -> Result<(), String> {
        let Answer { channel, performative, .. } = answer;
        let channel = *channel;
        if self.closed {
            return Err(format!("said after a close: {performative:?}"));
        }
        match performative {
            Performative::Open(_) if self.open => return Err("a second open".to_owned()),
            Performative::Open(_) => self.open = true,
            _ if !self.open => return Err(format!("said before the open: {performative:?}")),
            Performative::Close(_) => self.closed = true,
            Performative::Begin(_) => {
                if self.channels.insert(channel, BTreeMap::new()).is_some() {
                    return Err(format!("channel {channel} began twice"));
                }
                self.next_delivery.remove(&channel);
                self.unfinished.retain(|&(other, _)| other != channel);
            }
            Performative::End(_) => {
                self.channels.remove(&channel).ok_or_else(|| format!("channel {channel} ended twice"))?;
            }
            _ => return self.judge_in_session(channel, performative),
        }
        Ok(())
    }

    fn judge_in_session(&mut self, channel: u16, performative: &Performative<'_>) -> Result<(), String> {
        let Some(handles) = self.channels.get_mut(&channel) else {
            return Err(format!("said on channel {channel}, which is not begun: {performative:?}"));
        };
        let unattached = |handle: u32| format!("handle {handle} is not attached: {performative:?}");
        match performative {
            Performative::Attach(attach) => {
                let before = handles.insert(attach.handle, attach.role == Role::Sender);
                before.map_or(Ok(()), |_| Err(format!("handle {} was attached twice", attach.handle)))?;
            }
            Performative::Detach(detach) => {
                handles.remove(&detach.handle).ok_or_else(|| unattached(detach.handle))?;
                self.unfinished.remove(&(channel, detach.handle));
            }
            Performative::Flow(flow) => {
                if let Some(handle) = flow.handle {
                    handles.get(&handle).ok_or_else(|| unattached(handle))?;
                }
            }
            Performative::Transfer(transfer) => {
                let sends = *handles.get(&transfer.handle).ok_or_else(|| unattached(transfer.handle))?;
                if !sends {
                    return Err("a transfer from a receiver".to_owned());
                }
                let place = (channel, transfer.handle);
                if !self.unfinished.contains(&place) {
                    let next = self.next_delivery.entry(channel).or_insert(0);
                    if transfer.delivery_id != Some(*next) {
                        return Err(format!("delivery {:?} instead of {next}", transfer.delivery_id));
                    }
                    *next += 1;
                }
                if transfer.more && !transfer.aborted {
                    self.unfinished.insert(place);
                } else {
                    self.unfinished.remove(&place);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
