//! The five SASL frame bodies (part 5, section 5.3.3).

use crate::codec::{Decoder, ListEncoder, ReadFields, encode};
use crate::descriptor::{SASL_CHALLENGE, SASL_INIT, SASL_MECHANISMS, SASL_OUTCOME, SASL_RESPONSE};
use crate::{DecodeError, Symbol};

/// Outcome codes of SASL (section 5.3.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslCode {
    /// Authenticated.
    Ok = 0,
    /// The credentials are wrong.
    Auth = 1,
    /// A system error.
    Sys = 2,
    /// A system error that will not go away by itself.
    SysPerm = 3,
    /// A system error that may be gone next time.
    SysTemp = 4,
}

impl SaslCode {
    fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Ok,
            1 => Self::Auth,
            2 => Self::Sys,
            3 => Self::SysPerm,
            4 => Self::SysTemp,
            _ => return None,
        })
    }
}

/// A SASL frame body.
#[derive(Clone, Debug, PartialEq)]
pub enum SaslFrame {
    /// The server's offer.
    Mechanisms(Vec<Symbol>),
    /// The client's choice.
    Init {
        /// One of those offered.
        mechanism: Symbol,
        /// The mechanism's first bytes, where it has such.
        initial_response: Option<Vec<u8>>,
        /// The host that the client wants to reach.
        hostname: Option<String>,
    },
    /// A challenge of the server.
    Challenge(Vec<u8>),
    /// The client's response to it.
    Response(Vec<u8>),
    /// How it ended.
    Outcome {
        /// Success, or what kind of failure.
        code: SaslCode,
        /// The mechanism's last bytes, where it has such.
        additional_data: Option<Vec<u8>>,
    },
}

impl SaslFrame {
    /// Reads the body of a SASL frame.
    ///
    /// # Errors
    /// If it is not exactly one of the five, well formed.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(body);
        let frame = Self::read(&mut decoder)?;
        decoder.expect_end()?;
        Ok(frame)
    }

    fn read(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let found = decoder.read_descriptor()?;
        let (frame, fields) = match found.code() {
            Some(SASL_MECHANISMS) => {
                let mut fields = decoder.read_fields("sasl-mechanisms", 1)?;
                (Self::Mechanisms(fields.symbols()?), fields)
            }
            Some(SASL_INIT) => {
                let mut fields = decoder.read_fields("sasl-init", 3)?;
                let mechanism = fields.mandatory("mechanism", Decoder::read_symbol)?.into();
                let initial_response = fields.optional(Decoder::read_binary)?.map(<[u8]>::to_vec);
                let hostname = fields.optional(Decoder::read_str)?.map(str::to_owned);
                (Self::Init { mechanism, initial_response, hostname }, fields)
            }
            Some(SASL_CHALLENGE) => {
                let mut fields = decoder.read_fields("sasl-challenge", 1)?;
                (Self::Challenge(fields.mandatory("challenge", Decoder::read_binary)?.to_vec()), fields)
            }
            Some(SASL_RESPONSE) => {
                let mut fields = decoder.read_fields("sasl-response", 1)?;
                (Self::Response(fields.mandatory("response", Decoder::read_binary)?.to_vec()), fields)
            }
            Some(SASL_OUTCOME) => {
                let mut fields = decoder.read_fields("sasl-outcome", 2)?;
                let code = SaslCode::from_code(fields.mandatory("code", Decoder::read_ubyte)?);
                let code = code.ok_or_else(|| fields.out_of_range("code"))?;
                let additional_data = fields.optional(Decoder::read_binary)?.map(<[u8]>::to_vec);
                (Self::Outcome { code, additional_data }, fields)
            }
            _ => return Err(DecodeError::unknown_descriptor(found)),
        };
        fields.finish()?;
        Ok(frame)
    }

    /// Appends the body of the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Mechanisms(mechanisms) => {
                let mut list = ListEncoder::described(out, SASL_MECHANISMS);
                list.field(|out| encode::symbols(out, mechanisms));
                list.finish();
            }
            Self::Init { mechanism, initial_response, hostname } => {
                let mut list = ListEncoder::described(out, SASL_INIT);
                list.field(|out| encode::symbol(out, mechanism.as_str()));
                list.optional(initial_response.as_deref(), encode::binary);
                list.optional(hostname.as_deref(), encode::string);
                list.finish();
            }
            Self::Challenge(challenge) => encode_bytes(out, SASL_CHALLENGE, challenge),
            Self::Response(response) => encode_bytes(out, SASL_RESPONSE, response),
            Self::Outcome { code, additional_data } => {
                let mut list = ListEncoder::described(out, SASL_OUTCOME);
                list.field(|out| encode::ubyte(out, *code as u8));
                list.optional(additional_data.as_deref(), encode::binary);
                list.finish();
            }
        }
    }
}

fn encode_bytes(out: &mut Vec<u8>, code: u64, bytes: &[u8]) {
    let mut list = ListEncoder::described(out, code);
    list.field(|out| encode::binary(out, bytes));
    list.finish();
}
