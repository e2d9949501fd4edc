//! Message sections (part 3, section 3.2): a validating scanner that borrows, and an owned message for those who need one.
// Helper to write:
//   pub enum SectionKind { Header, DeliveryAnnotations, MessageAnnotations, Properties, ApplicationProperties, Data, Sequence, Value, Footer }
//   pub struct Section<'a> { kind, raw: &'a [u8] /* with descriptor */, value: &'a [u8] /* the encoded value */ , start: usize }
//   pub enum Scan<'a> { Section(Section<'a>), Incomplete, End }
//   pub struct Scanner<'a>  -- new(bytes, complete: bool); next() -> Result<Scan, DecodeError>; checks section order (3.2), types,
//       and that each section's value is well formed and is of the type the section asks for. `Incomplete` when !complete
//       and the bytes end inside a section.
//   pub struct HeaderView { durable: bool, priority: u8 (default 4), ttl: Option<u32>, first_acquirer, delivery_count }
//   pub struct PropertiesView<'a> { message_id: Option<Value>/raw, user_id: Option<&[u8]>, to: Option<&str>, subject: Option<&str>, reply_to: Option<&str>, correlation_id: raw Option<&[u8]>, ... }
//   pub struct Message { header, delivery_annotations, message_annotations, properties: Properties, application_properties: Map, body: Body, footer } -- owned, decode/encode
//   pub enum Body { Data(Vec<Vec<u8>>), Sequence(Vec<Vec<Value>>), Value(Value), Empty }
