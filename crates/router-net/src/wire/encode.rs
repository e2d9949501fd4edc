//! Writing messages exactly as the old router does: compound values always in their wide encoding.

use super::{Body, ControlMessage, PROTOCOL_VERSION};
use crate::wide::{compound, header};
use crate::{Hint, LinkState};
use amqp::codec::{encode, format};
use amqp::descriptor;

impl ControlMessage {
    /// The encoded message, addressed to `to`.
    pub fn encode(&self, to: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        // The old router's two halves differ in how they write, and so it is here.
        match &self.body {
            Body::AddressChange { .. } | Body::Addresses { .. } | Body::AddressRequest { .. } => {
                self.encode_mobile(&mut out, to);
            }
            _ => self.encode_path(&mut out, to),
        }
        out
    }

    fn encode_path(&self, out: &mut Vec<u8>, to: &str) {
        header(out);
        encode::descriptor(out, descriptor::PROPERTIES);
        compound(out, format::LIST32, |list| {
            list.value(encode::null).value(encode::null).value(|out| encode::string(out, to));
            list.value(encode::null).value(encode::null).value(encode::null);
        });
        encode::descriptor(out, descriptor::APPLICATION_PROPERTIES);
        compound(out, format::MAP32, |map| {
            map.text("opcode", self.body.opcode());
        });
        encode::descriptor(out, descriptor::AMQP_VALUE);
        compound(out, format::MAP32, |map| {
            map.text("id", &self.id).integer("pv", PROTOCOL_VERSION).text("area", "0");
            match &self.body {
                Body::Hello { instance, seen } => {
                    map.integer("instance", *instance);
                    map.value(|out| encode::string(out, "seen")).value(|out| encode_seen(out, seen));
                }
                Body::Advertisement { instance, ls_seq, mobile_seq } => {
                    map.integer("instance", *instance);
                    map.integer("ls_seq", *ls_seq).integer("mobile_seq", *mobile_seq);
                }
                Body::LinkState { instance, state } => {
                    map.integer("instance", *instance).integer("ls_seq", state.ls_seq);
                    map.value(|out| encode::string(out, "ls")).value(|out| encode_link_state(out, state));
                }
                Body::Sync(sync) => sync.encode(map),
                _ => {}
            }
        });
    }

    fn encode_mobile(&self, out: &mut Vec<u8>, to: &str) {
        header(out);
        encode::descriptor(out, descriptor::PROPERTIES);
        compound(out, format::LIST32, |list| {
            list.value(encode::null).value(encode::null).value(|out| encode::string(out, to));
        });
        encode::descriptor(out, descriptor::APPLICATION_PROPERTIES);
        compound(out, format::MAP32, |map| {
            map.symbol("opcode").value(|out| encode::string(out, self.body.opcode()));
        });
        encode::descriptor(out, descriptor::AMQP_VALUE);
        compound(out, format::MAP32, |map| {
            map.symbol("id").value(|out| encode::string(out, &self.id));
            map.long("pv", PROTOCOL_VERSION);
            map.symbol("area").value(|out| encode::string(out, "0"));
            match &self.body {
                Body::AddressChange { mobile_seq, add, del } => {
                    map.long("mobile_seq", *mobile_seq);
                    map.symbol("hints").value(|out| encode_hints(out, add));
                    map.symbol("add").value(|out| encode_keys(out, add.iter().map(|(key, _)| key)));
                    map.symbol("del").value(|out| encode_keys(out, del));
                }
                Body::Addresses { mobile_seq, exist } => {
                    map.long("mobile_seq", *mobile_seq);
                    map.symbol("exist").value(|out| encode_keys(out, exist.iter().map(|(key, _)| key)));
                    map.symbol("hints").value(|out| encode_hints(out, exist));
                }
                Body::AddressRequest { have_seq } => {
                    map.long("have_seq", *have_seq);
                }
                _ => {}
            }
        });
    }
}

fn encode_seen(out: &mut Vec<u8>, seen: &[String]) {
    if seen.is_empty() {
        out.push(format::LIST_0);
        return;
    }
    encode_keys(out, seen);
}

fn encode_link_state(out: &mut Vec<u8>, state: &LinkState) {
    compound(out, format::MAP32, |map| {
        map.text("id", &state.id).text("area", "0").integer("ls_seq", state.ls_seq);
        map.value(|out| encode::string(out, "peers")).value(|out| {
            compound(out, format::MAP32, |peers| {
                for (id, cost) in &state.peers {
                    peers.integer(id, i64::from(*cost));
                }
            });
        });
    });
}

fn encode_keys<'a>(out: &mut Vec<u8>, keys: impl IntoIterator<Item = &'a String>) {
    compound(out, format::LIST32, |list| {
        for key in keys {
            list.value(|out| encode::string(out, key));
        }
    });
}

fn encode_hints(out: &mut Vec<u8>, addresses: &[(String, Option<Hint>)]) {
    compound(out, format::LIST32, |list| {
        for (_, hint) in addresses {
            list.value(|out| encode::int(out, hint.unwrap_or(Hint::Balanced).code()));
        }
    });
}
