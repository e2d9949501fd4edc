//! Values, performatives and messages at random.

use amqp::message::{Body, Header, Message, Properties};
use amqp::performative::{
    Attach, Begin, Close, Detach, Disposition, End, Flow, Open, ReceiverSettleMode, Role, SenderSettleMode, Transfer,
};
use amqp::sasl::{SaslCode, SaslFrame};
use amqp::state::Modified;
use amqp::terminus::{ExpiryPolicy, Source, Target, TargetTerminus};
use amqp::{Array, DeliveryState, Described, ErrorCondition, Map, Symbol, Value};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn symbol() -> impl Strategy<Value = Symbol> {
    "[ -~]{1,20}".prop_map(Symbol::from)
}

/// Text that needs one byte, and sometimes four bytes, for its size.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![9 => any::<String>(), 1 => "x{250,260}"]
}

fn symbols() -> impl Strategy<Value = Vec<Symbol>> {
    vec(symbol(), 0..4)
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1..=255_u32, any::<u32>()]
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("NaN is not equal to itself", |number| !number.is_nan())
}

fn scalars() -> Vec<BoxedStrategy<Value>> {
    vec![
        Just(Value::Null).boxed(),
        any::<bool>().prop_map(Value::Bool).boxed(),
        any::<u8>().prop_map(Value::Ubyte).boxed(),
        any::<u16>().prop_map(Value::Ushort).boxed(),
        number().prop_map(Value::Uint).boxed(),
        prop_oneof![number().prop_map(u64::from), any::<u64>()].prop_map(Value::Ulong).boxed(),
        any::<i8>().prop_map(Value::Byte).boxed(),
        any::<i16>().prop_map(Value::Short).boxed(),
        prop_oneof![-130..=130, any::<i32>()].prop_map(Value::Int).boxed(),
        prop_oneof![-130..=130_i64, any::<i64>()].prop_map(Value::Long).boxed(),
        finite().prop_map(|number| Value::Float(number as f32)).boxed(),
        finite().prop_map(Value::Double).boxed(),
        any::<[u8; 4]>().prop_map(Value::Decimal32).boxed(),
        any::<[u8; 8]>().prop_map(Value::Decimal64).boxed(),
        any::<[u8; 16]>().prop_map(Value::Decimal128).boxed(),
        any::<char>().prop_map(Value::Char).boxed(),
        any::<i64>().prop_map(Value::Timestamp).boxed(),
        any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        vec(any::<u8>(), 0..300).prop_map(Value::Binary).boxed(),
        text().prop_map(Value::String).boxed(),
        symbol().prop_map(Value::Symbol).boxed(),
    ]
}

/// A value that is not compound.
pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    proptest::strategy::Union::new(scalars())
}

/// An array of scalars.
pub(crate) fn flat_array() -> impl Strategy<Value = Array> {
    select(scalars()).prop_flat_map(|scalar| vec(scalar, 0..5)).prop_map(array_of)
}

fn array_of(items: Vec<Value>) -> Array {
    Array::new(items).expect("all are of one type")
}

/// A map whose keys differ.
fn map_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map> {
    btree_map("[ -~]{0,10}", value, 0..4).prop_map(|entries| entries.into_iter().collect())
}

/// A map with symbols for keys, as most of the specification's own maps have.
pub(crate) fn fields() -> impl Strategy<Value = Map> {
    btree_map(symbol(), scalar(), 0..4).prop_map(|entries| entries.into_iter().collect()).boxed()
}

fn described(
    descriptor: impl Strategy<Value = Value>,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    (descriptor, value).prop_map(|(descriptor, value)| Described { descriptor, value }.into())
}

/// A descriptor of nobody in particular, by number or by name.
fn descriptor() -> impl Strategy<Value = Value> {
    prop_oneof![(1000..u64::MAX).prop_map(Value::Ulong), symbol().prop_map(Value::Symbol)]
}

/// Any value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    prop_oneof![scalar(), flat_array().prop_map(Value::Array)].prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::List),
            map_of(inner.clone()).prop_map(Value::Map),
            described(descriptor(), inner.clone()),
            vec(map_of(inner.clone()), 0..3)
                .prop_map(|maps| array_of(maps.into_iter().map(Value::Map).collect()).into()),
            vec(vec(inner.clone(), 0..3), 0..3)
                .prop_map(|lists| array_of(lists.into_iter().map(Value::List).collect()).into()),
            vec(flat_array(), 0..3).prop_map(|arrays| array_of(arrays.into_iter().map(Value::Array).collect()).into()),
            (descriptor(), vec(any::<i32>(), 1..4)).prop_map(|(descriptor, numbers)| {
                let described = |number: i32| Described { descriptor: descriptor.clone(), value: number.into() }.into();
                array_of(numbers.into_iter().map(described).collect()).into()
            }),
        ]
    })
}

/// A value of the kinds that an independent codec can handle. It does not write arrays as it should that are empty, or
/// have nulls, strings, described or compound members.
pub(crate) fn common_value() -> impl Strategy<Value = Value> {
    let sound = |array: &Array| !matches!(array.items.first(), None | Some(Value::Null | Value::String(_)));
    let array = flat_array().prop_filter("the other codec can write it", sound);
    prop_oneof![scalar(), array.prop_map(Value::Array)].prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::List),
            map_of(inner.clone()).prop_map(Value::Map),
            described(descriptor(), inner),
        ]
    })
}

pub(crate) fn error() -> impl Strategy<Value = ErrorCondition> {
    let condition = prop_oneof![Just(Symbol::from("amqp:not-found")), Just(Symbol::from("qd:no-route-to-dest"))];
    (condition, of(text()), of(fields())).prop_map(|(condition, description, info)| ErrorCondition {
        condition,
        description,
        info,
    })
}

pub(crate) fn state() -> impl Strategy<Value = DeliveryState> {
    let modified = (any::<bool>(), any::<bool>(), of(fields()));
    prop_oneof![
        (number(), any::<u64>())
            .prop_map(|(section_number, section_offset)| DeliveryState::Received { section_number, section_offset }),
        Just(DeliveryState::Accepted),
        of(error()).prop_map(|error| DeliveryState::Rejected(error.map(Box::new))),
        Just(DeliveryState::Released),
        modified.prop_map(|(delivery_failed, undeliverable_here, message_annotations)| {
            DeliveryState::Modified(Box::new(Modified { delivery_failed, undeliverable_here, message_annotations }))
        }),
    ]
}

fn expiry_policy() -> impl Strategy<Value = ExpiryPolicy> {
    use ExpiryPolicy::{ConnectionClose, LinkDetach, Never, SessionEnd};
    select(vec![LinkDetach, SessionEnd, ConnectionClose, Never])
}

pub(crate) fn source() -> impl Strategy<Value = Source> {
    let outcome = Just(Value::described(0x26, Vec::<Value>::new()));
    let mode = select(vec![Symbol::from("move"), Symbol::from("copy")]);
    (
        (of(text()), 0..=2_u32, expiry_policy(), number(), any::<bool>(), of(fields())),
        (of(mode), of(fields()), of(outcome), symbols(), symbols()),
    )
        .prop_map(|(common, (distribution_mode, filter, default_outcome, outcomes, capabilities))| {
            let (address, durable, expiry_policy, timeout, dynamic, dynamic_node_properties) = common;
            Source {
                address,
                durable,
                expiry_policy,
                timeout,
                dynamic,
                dynamic_node_properties,
                distribution_mode,
                filter,
                default_outcome,
                outcomes,
                capabilities,
            }
        })
}

fn target() -> impl Strategy<Value = TargetTerminus> {
    let target = (of(text()), 0..=2_u32, expiry_policy(), number(), any::<bool>(), of(fields()), symbols()).prop_map(
        |(address, durable, expiry_policy, timeout, dynamic, dynamic_node_properties, capabilities)| {
            TargetTerminus::Target(Target {
                address,
                durable,
                expiry_policy,
                timeout,
                dynamic,
                dynamic_node_properties,
                capabilities,
            })
        },
    );
    let coordinator = Just(TargetTerminus::Coordinator { capabilities: vec!["amqp:local-transactions".into()] });
    prop_oneof![4 => target, 1 => coordinator]
}

pub(crate) fn open() -> impl Strategy<Value = Open> {
    (
        (text(), of(text()), number(), any::<u16>(), of(number())),
        (symbols(), symbols(), symbols(), symbols(), of(fields())),
    )
        .prop_map(|((container_id, hostname, max_frame_size, channel_max, idle_time_out), lists)| {
            let (outgoing_locales, incoming_locales, offered_capabilities, desired_capabilities, properties) = lists;
            Open {
                container_id,
                hostname,
                max_frame_size,
                channel_max,
                idle_time_out,
                outgoing_locales,
                incoming_locales,
                offered_capabilities,
                desired_capabilities,
                properties,
            }
        })
}

pub(crate) fn begin() -> impl Strategy<Value = Begin> {
    ((of(any::<u16>()), number(), number(), number(), number()), symbols(), symbols(), of(fields())).prop_map(
        |(numbers, offered_capabilities, desired_capabilities, properties)| {
            let (remote_channel, next_outgoing_id, incoming_window, outgoing_window, handle_max) = numbers;
            Begin {
                remote_channel,
                next_outgoing_id,
                incoming_window,
                outgoing_window,
                handle_max,
                offered_capabilities,
                desired_capabilities,
                properties,
            }
        },
    )
}

fn role() -> impl Strategy<Value = Role> {
    select(vec![Role::Sender, Role::Receiver])
}

fn receiver_settle_mode() -> impl Strategy<Value = ReceiverSettleMode> {
    select(vec![ReceiverSettleMode::First, ReceiverSettleMode::Second])
}

pub(crate) fn attach() -> impl Strategy<Value = Attach> {
    let sender_settle_mode =
        select(vec![SenderSettleMode::Unsettled, SenderSettleMode::Settled, SenderSettleMode::Mixed]);
    (
        (text(), number(), role(), sender_settle_mode, receiver_settle_mode(), of(source().boxed()), of(target().boxed())),
        (any::<bool>(), number(), of(any::<u64>()), symbols(), symbols(), of(fields())),
    )
        .prop_map(|((name, handle, role, snd_settle_mode, rcv_settle_mode, source, target), rest)| {
            let (incomplete_unsettled, count, max_message_size, offered_capabilities, desired_capabilities, properties) =
                rest;
            Attach {
                name,
                handle,
                role,
                snd_settle_mode,
                rcv_settle_mode,
                source,
                target,
                unsettled: None,
                incomplete_unsettled,
                initial_delivery_count: (role == Role::Sender).then_some(count),
                max_message_size,
                offered_capabilities,
                desired_capabilities,
                properties,
            }
        })
}

pub(crate) fn flow() -> impl Strategy<Value = Flow> {
    (
        (of(number()), number(), number(), number()),
        (of(number()), of(number()), of(number()), of(number())),
        (any::<bool>(), any::<bool>(), of(fields())),
    )
        .prop_map(|(session, (handle, delivery_count, link_credit, available), (drain, echo, properties))| {
            let (next_incoming_id, incoming_window, next_outgoing_id, outgoing_window) = session;
            Flow {
                next_incoming_id,
                incoming_window,
                next_outgoing_id,
                outgoing_window,
                handle,
                delivery_count,
                link_credit,
                available,
                drain,
                echo,
                properties: properties.map(Box::new),
            }
        })
}

/// A transfer without a tag, which it would have to borrow, and a tag for it.
pub(crate) fn transfer() -> impl Strategy<Value = (Transfer<'static>, Option<Vec<u8>>)> {
    let flags = (of(any::<bool>()), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let tag = prop_oneof![vec(any::<u8>(), 0..40), vec(any::<u8>(), 250..260)];
    (number(), of(number()), of(number()), flags, of(receiver_settle_mode()), of(state()), of(tag)).prop_map(
        |(handle, delivery_id, message_format, flags, rcv_settle_mode, state, tag)| {
            let (settled, more, resume, aborted, batchable) = flags;
            let transfer = Transfer {
                handle,
                delivery_id,
                delivery_tag: None,
                message_format,
                settled,
                more,
                rcv_settle_mode,
                state,
                resume,
                aborted,
                batchable,
            };
            (transfer, tag)
        },
    )
}

pub(crate) fn disposition() -> impl Strategy<Value = Disposition> {
    (role(), number(), of(number()), any::<bool>(), of(state()), any::<bool>()).prop_map(
        |(role, first, last, settled, state, batchable)| Disposition { role, first, last, settled, state, batchable },
    )
}

pub(crate) fn detach() -> impl Strategy<Value = Detach> {
    (number(), any::<bool>(), of(error())).prop_map(|(handle, closed, error)| Detach { handle, closed, error })
}

pub(crate) fn end() -> impl Strategy<Value = End> {
    of(error()).prop_map(|error| End { error })
}

pub(crate) fn close() -> impl Strategy<Value = Close> {
    of(error()).prop_map(|error| Close { error })
}

pub(crate) fn sasl_frame() -> impl Strategy<Value = SaslFrame> {
    let bytes = || vec(any::<u8>(), 0..300);
    let code = select(vec![SaslCode::Ok, SaslCode::Auth, SaslCode::Sys, SaslCode::SysPerm, SaslCode::SysTemp]);
    prop_oneof![
        vec(symbol(), 1..4).prop_map(SaslFrame::Mechanisms),
        (symbol(), of(bytes()), of(text())).prop_map(|(mechanism, initial_response, hostname)| SaslFrame::Init {
            mechanism,
            initial_response,
            hostname
        }),
        bytes().prop_map(SaslFrame::Challenge),
        bytes().prop_map(SaslFrame::Response),
        (code, of(bytes())).prop_map(|(code, additional_data)| SaslFrame::Outcome { code, additional_data }),
    ]
}

pub(crate) fn header() -> impl Strategy<Value = Header> {
    (any::<bool>(), any::<u8>(), of(number()), any::<bool>(), number()).prop_map(
        |(durable, priority, ttl, first_acquirer, delivery_count)| Header {
            durable,
            priority,
            ttl,
            first_acquirer,
            delivery_count,
        },
    )
}

fn message_id() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::Ulong),
        any::<[u8; 16]>().prop_map(Value::Uuid),
        vec(any::<u8>(), 0..20).prop_map(Value::Binary),
        text().prop_map(Value::String),
    ]
}

pub(crate) fn properties() -> impl Strategy<Value = Properties> {
    (
        (of(message_id()), of(vec(any::<u8>(), 0..20)), of(text()), of(text()), of(text()), of(message_id())),
        (of(symbol()), of(symbol()), of(any::<i64>()), of(any::<i64>()), of(text()), of(number()), of(text())),
    )
        .prop_map(|((message_id, user_id, to, subject, reply_to, correlation_id), rest)| Properties {
            message_id,
            user_id,
            to,
            subject,
            reply_to,
            correlation_id,
            content_type: rest.0,
            content_encoding: rest.1,
            absolute_expiry_time: rest.2,
            creation_time: rest.3,
            group_id: rest.4,
            group_sequence: rest.5,
            reply_to_group_id: rest.6,
        })
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    message_of(value().boxed())
}

/// A message whose body an independent codec can handle; a missing one it would write as a null.
pub(crate) fn common_message() -> impl Strategy<Value = Message> {
    message_of(common_value().boxed()).prop_filter("it has a body", |message| message.body != Body::Empty)
}

fn message_of(value: BoxedStrategy<Value>) -> impl Strategy<Value = Message> {
    let body = prop_oneof![
        Just(Body::Empty),
        vec(vec(any::<u8>(), 0..300), 1..3).prop_map(Body::Data),
        vec(vec(value.clone(), 0..3), 1..3).prop_map(Body::Sequence),
        value.prop_map(Body::Value),
    ];
    (header(), fields(), fields(), properties(), map_of(scalar()), body, fields()).prop_map(
        |(header, delivery_annotations, message_annotations, properties, application_properties, body, footer)| {
            Message {
                header,
                delivery_annotations,
                message_annotations,
                properties,
                application_properties,
                body,
                footer,
            }
        },
    )
}
