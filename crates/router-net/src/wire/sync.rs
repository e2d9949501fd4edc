//! What two neighbours of this kind tell each other beside the old protocol, in one message: what they know of all routers.
//!
//! It goes no further than the neighbour, and only to one that offers [`super::SYNC_CAPABILITY`] in its open: routers of the
//! old kind never see it.

use super::decode::{Members, WireError};
use crate::Hint;
use crate::wide::{Members as Writer, compound};
use amqp::Value;
use amqp::codec::{encode, format};
use std::collections::BTreeMap;

/// Where a router stands: what it has said is known as far as this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seqs {
    /// Its start, in seconds since the epoch.
    pub instance: i64,
    /// The sequence number of its link state.
    pub ls_seq: i64,
    /// That of its addresses.
    pub mobile_seq: i64,
}

/// A message between two neighbours that share what they know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// A number for all that the sender knows: equal numbers, equal knowledge.
    pub digest: Option<i64>,
    /// All routers that the sender knows, and as far as it does.
    pub have: Option<Vec<(String, Seqs)>>,
    /// What the receiver lacks.
    pub news: Vec<News>,
    /// Routers the addresses of which the sender lacks, and the sequence number that they should have.
    pub ask: Vec<(String, i64)>,
}

/// News of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub seqs: Seqs,
    /// Its neighbours, and what the connection to each costs; `None`: the receiver knows.
    pub peers: Option<BTreeMap<String, u32>>,
    /// Its addresses, as far as they are told.
    pub addresses: Addresses,
}

/// What is told of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Nothing. Who lacks them asks.
    Untold,
    /// All.
    All(Vec<(String, Option<Hint>)>),
    /// What has changed since the sequence number before.
    Changed {
        /// Keys with consumers from now on.
        add: Vec<(String, Option<Hint>)>,
        /// Keys without.
        del: Vec<String>,
    },
}

impl Sync {
    /// Nothing is in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn encode(&self, map: &mut Writer<'_>) {
        if let Some(digest) = self.digest {
            map.value(|out| encode::string(out, "digest")).value(|out| encode::long(out, digest));
        }
        if let Some(have) = &self.have {
            map.value(|out| encode::string(out, "have")).value(|out| {
                compound(out, format::LIST32, |list| have.iter().for_each(|(id, seqs)| standing(list, id, seqs)));
            });
        }
        if !self.news.is_empty() {
            map.value(|out| encode::string(out, "news")).value(|out| {
                compound(out, format::LIST32, |list| self.news.iter().for_each(|news| news.encode(list)));
            });
        }
        if !self.ask.is_empty() {
            map.value(|out| encode::string(out, "ask")).value(|out| {
                compound(out, format::LIST32, |list| {
                    for (id, seq) in &self.ask {
                        list.value(|out| encode::string(out, id)).value(|out| encode::long(out, *seq));
                    }
                });
            });
        }
    }

    pub(super) fn decode(members: &Members<'_>) -> Result<Self, WireError> {
        let digest = members.map.get("digest").and_then(Value::as_i64);
        let have = members.optional("have", 4, |row| Some((id(&row[0])?, seqs(&row[1..])?)))?;
        let news = members.optional("news", 8, News::decode)?.unwrap_or_default();
        let ask = members.optional("ask", 2, |row| Some((id(&row[0])?, row[1].as_i64()?)))?.unwrap_or_default();
        Ok(Self { digest, have, news, ask })
    }
}

/// A router's id and where it stands: four values of a flat list.
fn standing(list: &mut Writer<'_>, id: &str, seqs: &Seqs) {
    list.value(|out| encode::string(out, id)).value(|out| encode::long(out, seqs.instance));
    list.value(|out| encode::long(out, seqs.ls_seq)).value(|out| encode::long(out, seqs.mobile_seq));
}

impl News {
    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let keys = |keys: &[(String, Option<Hint>)]| keys.iter().map(|(key, _)| key.len() + 7).sum::<usize>();
        let addresses = match &self.addresses {
            Addresses::Untold => 0,
            Addresses::All(all) => keys(all),
            Addresses::Changed { add, del } => keys(add) + del.iter().map(|key| key.len() + 5).sum::<usize>(),
        };
        let peers = self.peers.iter().flatten().map(|(id, _)| id.len() + 5).sum::<usize>();
        self.id.len() + 40 + peers + addresses
    }

    /// Eight values of a flat list.
    fn encode(&self, list: &mut Writer<'_>) {
        standing(list, &self.id, &self.seqs);
        list.value(|out| match &self.peers {
            None => encode::null(out),
            Some(peers) => compound(out, format::MAP32, |map| {
                for (id, cost) in peers {
                    map.integer(id, i64::from(*cost));
                }
            }),
        });
        let (keys, del) = match &self.addresses {
            Addresses::Untold => (None, None),
            Addresses::All(all) => (Some(all), None),
            Addresses::Changed { add, del } => (Some(add), Some(del)),
        };
        list.value(|out| sequence(out, keys, |out, (key, _)| encode::string(out, key)));
        list.value(|out| sequence(out, keys, |out, (_, hint)| encode::int(out, hint.unwrap_or(Hint::Balanced).code())));
        list.value(|out| sequence(out, del, |out, key| encode::string(out, key)));
    }

    fn decode(row: &[Value]) -> Option<Self> {
        let id = id(&row[0])?;
        let seqs = seqs(&row[1..4])?;
        let peers = match &row[4] {
            Value::Null => None,
            peers => Some(super::decode::peers(peers.as_map()?)?),
        };
        let addresses = match (&row[5], &row[7]) {
            (Value::Null, _) => Addresses::Untold,
            (keys, Value::Null) => Addresses::All(hinted(keys, &row[6])?),
            (keys, del) => Addresses::Changed { add: hinted(keys, &row[6])?, del: super::decode::texts(del)? },
        };
        Some(Self { id, seqs, peers, addresses })
    }
}

fn sequence<T>(out: &mut Vec<u8>, items: Option<&Vec<T>>, write: impl Fn(&mut Vec<u8>, &T)) {
    match items {
        None => encode::null(out),
        Some(items) => compound(out, format::LIST32, |list| {
            for item in items {
                list.value(|out| write(out, item));
            }
        }),
    }
}

fn id(value: &Value) -> Option<String> {
    value.as_text().filter(|id| super::decode::is_id(id)).map(str::to_owned)
}

fn seqs(row: &[Value]) -> Option<Seqs> {
    Some(Seqs { instance: row[0].as_i64()?, ls_seq: row[1].as_i64()?, mobile_seq: row[2].as_i64()? })
}

fn hinted(keys: &Value, hints: &Value) -> Option<Vec<(String, Option<Hint>)>> {
    super::decode::with_hints(super::decode::texts(keys)?, hints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Body, ControlMessage, SYNC_ADDRESS};

    #[test]
    fn what_is_written_is_read() {
        let seqs = Seqs { instance: 1, ls_seq: i64::from(i32::MAX) + 2, mobile_seq: 3 };
        let hinted = vec![("M0a".to_owned(), Some(Hint::Multicast)), ("Cb".to_owned(), Some(Hint::LinkBalanced))];
        let news = |addresses| News { id: "r1".to_owned(), seqs, peers: None, addresses };
        let sync = Sync {
            digest: Some(-7),
            have: Some(vec![("r0".to_owned(), seqs), ("r1".to_owned(), seqs)]),
            news: vec![
                News { peers: Some([("r0".to_owned(), 3)].into()), ..news(Addresses::Untold) },
                news(Addresses::All(hinted.clone())),
                news(Addresses::Changed { add: hinted, del: vec!["M0gone".to_owned()] }),
            ],
            ask: vec![("r2".to_owned(), 5)],
        };
        let message = ControlMessage { id: "r0".to_owned(), body: Body::Sync(sync) };
        assert_eq!(ControlMessage::decode(&message.encode(SYNC_ADDRESS)), Ok(message));
    }

    #[test]
    fn an_empty_list_of_routers_is_not_none() {
        let sync = Sync { have: Some(Vec::new()), ..Sync::default() };
        let message = ControlMessage { id: "r0".to_owned(), body: Body::Sync(sync) };
        assert_eq!(ControlMessage::decode(&message.encode(SYNC_ADDRESS)), Ok(message));
    }
}
