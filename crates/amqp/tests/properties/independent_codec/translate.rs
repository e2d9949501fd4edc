//! The other codec's types turned into ours, field by field and by name.

use amqp::message::{Body, Header, Message, Properties};
use amqp::performative::{
    Attach, Begin, Close, Detach, Disposition, End, Flow, Open, ReceiverSettleMode, Role, SenderSettleMode, Transfer,
};
use amqp::sasl::{SaslCode, SaslFrame};
use amqp::state::Modified;
use amqp::terminus::{ExpiryPolicy, Source, Target, TargetTerminus};
use amqp::{Array, DeliveryState, Described, ErrorCondition, Map, Symbol, Value};
use fe2o3_amqp_types::definitions::{self, Fields};
use fe2o3_amqp_types::messaging::{self, TargetArchetype, TerminusDurability, TerminusExpiryPolicy};
use fe2o3_amqp_types::{performatives, sasl};
use serde_amqp::descriptor::Descriptor;
use serde_amqp::primitives;

/// Turns one of their types into ours.
pub(super) trait Translate<O> {
    fn into_ours(self) -> O;
}

pub(super) fn translate<T: Translate<O>, O>(theirs: T) -> O {
    theirs.into_ours()
}

/// What `Performative::decode` gives is boxed for some.
pub(super) trait Owned {
    type Ours;
    fn owned(self) -> Self::Ours;
}

pub(super) fn owned<T: Owned>(read: T) -> T::Ours {
    read.owned()
}

macro_rules! owned {
    ($($read:ty => $ours:ty, $self:ident: $owned:expr;)*) => {
        $(impl Owned for $read {
            type Ours = $ours;
            fn owned($self) -> $ours { $owned }
        })*
    };
}

owned! {
    Box<Open> => Open, self: *self;
    Begin => Begin, self: self;
    Box<Attach> => Attach, self: *self;
    Flow => Flow, self: self;
    Disposition => Disposition, self: self;
    Detach => Detach, self: self;
    End => End, self: self;
    Close => Close, self: self;
}

pub(super) fn value(theirs: serde_amqp::Value) -> Value {
    use serde_amqp::Value as T;
    match theirs {
        T::Null => Value::Null,
        T::Bool(value) => Value::Bool(value),
        T::Ubyte(value) => Value::Ubyte(value),
        T::Ushort(value) => Value::Ushort(value),
        T::Uint(value) => Value::Uint(value),
        T::Ulong(value) => Value::Ulong(value),
        T::Byte(value) => Value::Byte(value),
        T::Short(value) => Value::Short(value),
        T::Int(value) => Value::Int(value),
        T::Long(value) => Value::Long(value),
        T::Float(value) => Value::Float(value.0),
        T::Double(value) => Value::Double(value.0),
        T::Decimal32(value) => Value::Decimal32(value.into_inner()),
        T::Decimal64(value) => Value::Decimal64(value.into_inner()),
        T::Decimal128(value) => Value::Decimal128(value.into_inner()),
        T::Char(value) => Value::Char(value),
        T::Timestamp(value) => Value::Timestamp(value.milliseconds()),
        T::Uuid(value) => Value::Uuid(value.into_inner()),
        T::Binary(value) => Value::Binary(value.into_vec()),
        T::String(value) => Value::String(value),
        T::Symbol(value) => Value::Symbol(symbol(value)),
        T::List(values) => Value::List(values.into_iter().map(self::value).collect()),
        T::Map(map) => Value::Map(map.into_iter().map(|(key, value)| (self::value(key), self::value(value))).collect()),
        T::Array(array) => {
            let items = array.0.into_iter().map(self::value).collect();
            Value::Array(Array::new(items).expect("an array has members of one type"))
        }
        T::Described(described) => {
            let descriptor = match described.descriptor {
                Descriptor::Code(code) => Value::Ulong(code),
                Descriptor::Name(name) => Value::Symbol(symbol(name)),
            };
            Described { descriptor, value: value(described.value) }.into()
        }
    }
}

/// The value with the widest format codes in its arrays: the two codecs choose different ones.
pub(super) fn canonical(value: Value) -> Value {
    match value {
        Value::List(values) => Value::List(values.into_iter().map(canonical).collect()),
        Value::Map(map) => {
            map.into_iter().map(|(key, value)| (canonical(key), canonical(value))).collect::<Map>().into()
        }
        Value::Array(array) => {
            let items = array.items.into_iter().map(canonical).collect();
            Array::new(items).expect("an array has members of one type").into()
        }
        Value::Described(described) => {
            Described { descriptor: described.descriptor, value: canonical(described.value) }.into()
        }
        scalar => scalar,
    }
}

fn symbol(theirs: primitives::Symbol) -> Symbol {
    theirs.into_inner().into()
}

fn symbols(theirs: Option<primitives::Array<primitives::Symbol>>) -> Vec<Symbol> {
    theirs.into_iter().flat_map(|array| array.0).map(symbol).collect()
}

fn fields(theirs: Fields) -> Map {
    theirs.into_iter().map(|(key, value)| (symbol(key), self::value(value))).collect()
}

fn error(theirs: definitions::Error) -> ErrorCondition {
    ErrorCondition {
        condition: condition(&theirs.condition),
        description: theirs.description,
        info: theirs.info.map(|info| fields(*info)),
    }
}

fn condition(theirs: &definitions::ErrorCondition) -> Symbol {
    match theirs {
        definitions::ErrorCondition::AmqpError(error) => symbol(error.into()),
        definitions::ErrorCondition::ConnectionError(error) => symbol(error.into()),
        definitions::ErrorCondition::SessionError(error) => symbol(error.into()),
        definitions::ErrorCondition::LinkError(error) => symbol(error.into()),
        definitions::ErrorCondition::TransactionError(error) => symbol(error.into()),
        definitions::ErrorCondition::Custom(text) => symbol(text.clone()),
    }
}

fn role(theirs: &definitions::Role) -> Role {
    match theirs {
        definitions::Role::Sender => Role::Sender,
        definitions::Role::Receiver => Role::Receiver,
    }
}

fn receiver_settle_mode(theirs: &definitions::ReceiverSettleMode) -> ReceiverSettleMode {
    match theirs {
        definitions::ReceiverSettleMode::First => ReceiverSettleMode::First,
        definitions::ReceiverSettleMode::Second => ReceiverSettleMode::Second,
    }
}

pub(super) fn state(theirs: messaging::DeliveryState) -> DeliveryState {
    use messaging::DeliveryState as T;
    match theirs {
        T::Received(received) => {
            DeliveryState::Received { section_number: received.section_number, section_offset: received.section_offset }
        }
        T::Accepted(_) => DeliveryState::Accepted,
        T::Rejected(rejected) => DeliveryState::Rejected(rejected.error.map(error).map(Box::new)),
        T::Released(_) => DeliveryState::Released,
        T::Modified(modified) => DeliveryState::Modified(Box::new(Modified {
            delivery_failed: modified.delivery_failed.unwrap_or(false),
            undeliverable_here: modified.undeliverable_here.unwrap_or(false),
            message_annotations: modified.message_annotations.map(fields),
        })),
        T::Declared(_) | T::TransactionalState(_) => panic!("no state of a transaction is generated"),
    }
}

fn durable(theirs: TerminusDurability) -> u32 {
    match theirs {
        TerminusDurability::None => 0,
        TerminusDurability::Configuration => 1,
        TerminusDurability::UnsettledState => 2,
    }
}

fn expiry_policy(theirs: TerminusExpiryPolicy) -> ExpiryPolicy {
    match theirs {
        TerminusExpiryPolicy::LinkDetach => ExpiryPolicy::LinkDetach,
        TerminusExpiryPolicy::SessionEnd => ExpiryPolicy::SessionEnd,
        TerminusExpiryPolicy::ConnectionClose => ExpiryPolicy::ConnectionClose,
        TerminusExpiryPolicy::Never => ExpiryPolicy::Never,
    }
}

fn source(theirs: messaging::Source) -> Source {
    Source {
        address: theirs.address,
        durable: durable(theirs.durable),
        expiry_policy: expiry_policy(theirs.expiry_policy),
        timeout: theirs.timeout,
        dynamic: theirs.dynamic,
        dynamic_node_properties: theirs.dynamic_node_properties.map(fields),
        distribution_mode: theirs.distribution_mode.map(|mode| symbol(mode.into())),
        filter: theirs.filter.map(fields),
        default_outcome: theirs.default_outcome.map(|outcome| match outcome {
            messaging::Outcome::Released(_) => Value::described(0x26, Vec::<Value>::new()),
            other => panic!("no outcome but released is generated, yet there is {other:?}"),
        }),
        outcomes: symbols(theirs.outcomes),
        capabilities: symbols(theirs.capabilities),
    }
}

fn target(theirs: TargetArchetype) -> TargetTerminus {
    match theirs {
        TargetArchetype::Target(theirs) => TargetTerminus::Target(Target {
            address: theirs.address,
            durable: durable(theirs.durable),
            expiry_policy: expiry_policy(theirs.expiry_policy),
            timeout: theirs.timeout,
            dynamic: theirs.dynamic,
            dynamic_node_properties: theirs.dynamic_node_properties.map(fields),
            capabilities: symbols(theirs.capabilities),
        }),
        TargetArchetype::Coordinator(theirs) => TargetTerminus::Coordinator {
            capabilities: theirs
                .capabilities
                .into_iter()
                .flat_map(|array| array.0)
                .map(|capability| symbol((&capability).into()))
                .collect(),
        },
    }
}

impl Translate<Open> for performatives::Open {
    fn into_ours(self) -> Open {
        Open {
            container_id: self.container_id,
            hostname: self.hostname,
            max_frame_size: self.max_frame_size.0,
            channel_max: self.channel_max.0,
            idle_time_out: self.idle_time_out,
            outgoing_locales: symbols(self.outgoing_locales),
            incoming_locales: symbols(self.incoming_locales),
            offered_capabilities: symbols(self.offered_capabilities),
            desired_capabilities: symbols(self.desired_capabilities),
            properties: self.properties.map(fields),
        }
    }
}

impl Translate<Begin> for performatives::Begin {
    fn into_ours(self) -> Begin {
        Begin {
            remote_channel: self.remote_channel,
            next_outgoing_id: self.next_outgoing_id,
            incoming_window: self.incoming_window,
            outgoing_window: self.outgoing_window,
            handle_max: self.handle_max.0,
            offered_capabilities: symbols(self.offered_capabilities),
            desired_capabilities: symbols(self.desired_capabilities),
            properties: self.properties.map(fields),
        }
    }
}

impl Translate<Attach> for performatives::Attach {
    fn into_ours(self) -> Attach {
        Attach {
            name: self.name,
            handle: self.handle.0,
            role: role(&self.role),
            snd_settle_mode: match self.snd_settle_mode {
                definitions::SenderSettleMode::Unsettled => SenderSettleMode::Unsettled,
                definitions::SenderSettleMode::Settled => SenderSettleMode::Settled,
                definitions::SenderSettleMode::Mixed => SenderSettleMode::Mixed,
            },
            rcv_settle_mode: receiver_settle_mode(&self.rcv_settle_mode),
            source: self.source.map(|theirs| source(*theirs)),
            target: self.target.map(|theirs| target(*theirs)),
            unsettled: self.unsettled.map(|_| panic!("no unsettled map is generated")),
            incomplete_unsettled: self.incomplete_unsettled,
            initial_delivery_count: self.initial_delivery_count,
            max_message_size: self.max_message_size,
            offered_capabilities: symbols(self.offered_capabilities),
            desired_capabilities: symbols(self.desired_capabilities),
            properties: self.properties.map(fields),
        }
    }
}

impl Translate<Flow> for performatives::Flow {
    fn into_ours(self) -> Flow {
        Flow {
            next_incoming_id: self.next_incoming_id,
            incoming_window: self.incoming_window,
            next_outgoing_id: self.next_outgoing_id,
            outgoing_window: self.outgoing_window,
            handle: self.handle.map(|handle| handle.0),
            delivery_count: self.delivery_count,
            link_credit: self.link_credit,
            available: self.available,
            drain: self.drain,
            echo: self.echo,
            properties: self.properties.map(fields).map(Box::new),
        }
    }
}

pub(super) fn transfer(theirs: &performatives::Transfer) -> Transfer<'_> {
    Transfer {
        handle: theirs.handle.0,
        delivery_id: theirs.delivery_id,
        delivery_tag: theirs.delivery_tag.as_deref().map(Vec::as_slice),
        message_format: theirs.message_format,
        settled: theirs.settled,
        more: theirs.more,
        rcv_settle_mode: theirs.rcv_settle_mode.as_ref().map(receiver_settle_mode),
        state: theirs.state.clone().map(state),
        resume: theirs.resume,
        aborted: theirs.aborted,
        batchable: theirs.batchable,
    }
}

impl Translate<Disposition> for performatives::Disposition {
    fn into_ours(self) -> Disposition {
        Disposition {
            role: role(&self.role),
            first: self.first,
            last: self.last,
            settled: self.settled,
            state: self.state.map(state),
            batchable: self.batchable,
        }
    }
}

impl Translate<Detach> for performatives::Detach {
    fn into_ours(self) -> Detach {
        Detach { handle: self.handle.0, closed: self.closed, error: self.error.map(error) }
    }
}

impl Translate<End> for performatives::End {
    fn into_ours(self) -> End {
        End { error: self.error.map(error) }
    }
}

impl Translate<Close> for performatives::Close {
    fn into_ours(self) -> Close {
        Close { error: self.error.map(error) }
    }
}

impl Translate<SaslFrame> for sasl::SaslMechanisms {
    fn into_ours(self) -> SaslFrame {
        SaslFrame::Mechanisms(symbols(Some(self.sasl_server_mechanisms)))
    }
}

impl Translate<SaslFrame> for sasl::SaslInit {
    fn into_ours(self) -> SaslFrame {
        SaslFrame::Init {
            mechanism: symbol(self.mechanism),
            initial_response: self.initial_response.map(|bytes| bytes.into_vec()),
            hostname: self.hostname,
        }
    }
}

impl Translate<SaslFrame> for sasl::SaslChallenge {
    fn into_ours(self) -> SaslFrame {
        SaslFrame::Challenge(self.challenge.into_vec())
    }
}

impl Translate<SaslFrame> for sasl::SaslResponse {
    fn into_ours(self) -> SaslFrame {
        SaslFrame::Response(self.response.into_vec())
    }
}

impl Translate<SaslFrame> for sasl::SaslOutcome {
    fn into_ours(self) -> SaslFrame {
        let code = match self.code {
            sasl::SaslCode::Ok => SaslCode::Ok,
            sasl::SaslCode::Auth => SaslCode::Auth,
            sasl::SaslCode::Sys => SaslCode::Sys,
            sasl::SaslCode::SysPerm => SaslCode::SysPerm,
            sasl::SaslCode::SysTemp => SaslCode::SysTemp,
        };
        SaslFrame::Outcome { code, additional_data: self.additional_data.map(|bytes| bytes.into_vec()) }
    }
}

fn annotations(theirs: messaging::Annotations) -> Map {
    let key = |key| match key {
        messaging::annotations::OwnedKey::Symbol(text) => Value::Symbol(symbol(text)),
        messaging::annotations::OwnedKey::Ulong(number) => Value::Ulong(number),
    };
    theirs.into_iter().map(|(name, value)| (key(name), self::value(value))).collect()
}

fn message_id(theirs: messaging::MessageId) -> Value {
    match theirs {
        messaging::MessageId::Ulong(id) => Value::Ulong(id),
        messaging::MessageId::Uuid(id) => Value::Uuid(id.into_inner()),
        messaging::MessageId::Binary(id) => Value::Binary(id.into_vec()),
        messaging::MessageId::String(id) => Value::String(id),
    }
}

fn properties(theirs: messaging::Properties) -> Properties {
    Properties {
        message_id: theirs.message_id.map(message_id),
        user_id: theirs.user_id.map(|bytes| bytes.into_vec()),
        to: theirs.to,
        subject: theirs.subject,
        reply_to: theirs.reply_to,
        correlation_id: theirs.correlation_id.map(message_id),
        content_type: theirs.content_type.map(symbol),
        content_encoding: theirs.content_encoding.map(symbol),
        absolute_expiry_time: theirs.absolute_expiry_time.map(|time| time.milliseconds()),
        creation_time: theirs.creation_time.map(|time| time.milliseconds()),
        group_id: theirs.group_id,
        group_sequence: theirs.group_sequence,
        reply_to_group_id: theirs.reply_to_group_id,
    }
}

pub(super) fn message(theirs: messaging::Message<messaging::Body<serde_amqp::Value>>) -> Message {
    let header = theirs.header.unwrap_or_default();
    Message {
        header: Header {
            durable: header.durable,
            priority: header.priority.0,
            ttl: header.ttl,
            first_acquirer: header.first_acquirer,
            delivery_count: header.delivery_count,
        },
        delivery_annotations: theirs.delivery_annotations.map(|map| annotations(map.0)).unwrap_or_default(),
        message_annotations: theirs.message_annotations.map(|map| annotations(map.0)).unwrap_or_default(),
        properties: theirs.properties.map(properties).unwrap_or_default(),
        application_properties: theirs
            .application_properties
            .map(|map| map.0.into_iter().map(|(key, simple)| (key, value(simple.into()))).collect())
            .unwrap_or_default(),
        body: match theirs.body {
            messaging::Body::Empty => Body::Empty,
            messaging::Body::Data(parts) => {
                Body::Data(parts.into_iter().map(|messaging::Data(bytes)| bytes.into_vec()).collect())
            }
            messaging::Body::Sequence(parts) => Body::Sequence(
                parts.into_iter().map(|messaging::AmqpSequence(list)| list.into_iter().map(value).collect()).collect(),
            ),
            messaging::Body::Value(messaging::AmqpValue(body)) => Body::Value(value(body)),
        },
        footer: theirs.footer.map(|map| annotations(map.0)).unwrap_or_default(),
    }
}
