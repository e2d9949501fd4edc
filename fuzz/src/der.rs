//! Certificates whose names are made of anything, and their subjects read back from text as a stranger would read them.

/// The common name, among [`Field::kind`]s.
pub const COMMON_NAME: usize = 0;
/// The tag of a string in UTF-8.
pub const UTF8_STRING: u8 = 12;
/// Kinds of strings, and things that are none.
pub const TAGS: [u8; 14] = [UTF8_STRING, 18, 19, 20, 22, 26, 23, 24, 30, 28, 4, 2, 3, 0x80];

/// Types of fields: as they are encoded, and as they are shown.
const TYPES: [(&[u8], &str); 6] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x2a, 3, 4], "1.2.3.4"),
];
/// How many of them have a name of their own.
const NAMED: usize = 5;

/// A field of a subject.
pub struct Field<'b> {
    /// Which type, counted round.
    pub kind: usize,
    /// Which kind of string.
    pub tag: u8,
    /// What the string holds.
    pub value: &'b [u8],
}

impl Field<'_> {
    /// Type and value as they should be read back: characters in UTF-8, or what is encoded.
    pub fn shown(&self) -> (String, Value) {
        let (_, name) = TYPES[self.kind % TYPES.len()];
        let characters = match self.tag {
            UTF8_STRING => Some(self.value.to_vec()),
            18 | 19 | 20 | 22 | 26 | 23 | 24 => Some(in_utf8(self.value, 1)),
            30 => Some(in_utf8(self.value, 2)),
            28 => Some(in_utf8(self.value, 4)),
            _ => None,
        };
        let value = match characters.filter(|_| self.kind % TYPES.len() < NAMED) {
            Some(characters) => Value::Text(characters),
            None => Value::Encoded(element(self.tag, self.value)),
        };
        (name.to_owned(), value)
    }

    fn encoded(&self) -> Vec<u8> {
        let kind = element(6, TYPES[self.kind % TYPES.len()].0);
        element(0x30, &[kind, element(self.tag, self.value)].concat())
    }
}

/// The value of a field.
#[derive(Debug, PartialEq, Eq)]
pub enum Value {
    /// Characters.
    Text(Vec<u8>),
    /// DER.
    Encoded(Vec<u8>),
}

fn in_utf8(bytes: &[u8], size: usize) -> Vec<u8> {
    let code = |unit: &[u8]| unit.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
    let text: String = bytes.chunks(size).map(|unit| char::from_u32(code(unit)).unwrap_or('\u{fffd}')).collect();
    text.into_bytes()
}

/// An element of DER.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut length = content.len().to_be_bytes().to_vec();
    length.drain(..length.iter().take_while(|byte| **byte == 0).count());
    let mut all = vec![tag];
    if content.len() < 0x80 {
        all.push(content.len() as u8);
    } else {
        all.push(0x80 | length.len() as u8);
        all.extend(length);
    }
    all.extend(content);
    all
}

/// A certificate with this subject, and this DNS name unless it is empty. Nobody has signed it.
pub fn certificate(subject: &[Vec<Field<'_>>], dns_name: &[u8]) -> Vec<u8> {
    let sets = subject.iter().map(|set| element(0x31, &set.iter().flat_map(Field::encoded).collect::<Vec<_>>()));
    let subject = element(0x30, &sets.flatten().collect::<Vec<_>>());
    let algorithm = element(0x30, &element(6, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]));
    let time = element(23, b"250101000000Z");
    let key = element(
        0x30,
        &[element(0x30, &element(6, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1])), element(3, &[0, 4])].concat(),
    );
    let mut parts = vec![
        element(0xa0, &element(2, &[2])),
        element(2, &[1]),
        algorithm.clone(),
        element(0x30, &[]),
        element(0x30, &[time.clone(), time].concat()),
        subject,
        key,
    ];
    if !dns_name.is_empty() {
        let names = element(0x30, &element(0x82, dns_name));
        let extension = element(0x30, &[element(6, &[0x55, 0x1d, 0x11]), element(4, &names)].concat());
        parts.push(element(0xa3, &element(0x30, &extension)));
    }
    element(0x30, &[element(0x30, &parts.concat()), algorithm, element(3, &[0, 0])].concat())
}

/// The sets of fields that a text of RFC 2253 names, in its order.
///
/// # Panics
/// If it is no such text.
pub fn read_back(text: &str) -> Vec<Vec<(String, Value)>> {
    let mut sets = Vec::new();
    let mut bytes = text.bytes().peekable();
    while bytes.peek().is_some() {
        let kind: Vec<u8> = bytes.by_ref().take_while(|byte| *byte != b'=').collect();
        let (mut value, mut quoted) = (Vec::new(), false);
        let mut end = None;
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' => {
                    quoted |= value.is_empty();
                    let first = bytes.next().expect("something follows a backslash");
                    value.push(match (first as char).to_digit(16) {
                        Some(high) => (high as u8) << 4 | digit(bytes.next()),
                        None => first,
                    });
                }
                b',' | b'+' => {
                    end = Some(byte);
                    break;
                }
                byte => value.push(byte),
            }
        }
        let value = match value.split_first() {
            Some((b'#', digits)) if !quoted && !digits.is_empty() => Value::Encoded(
                digits.chunks(2).map(|pair| digit(Some(pair[0])) << 4 | digit(pair.get(1).copied())).collect(),
            ),
            _ => Value::Text(value),
        };
        let field = (String::from_utf8(kind).expect("types are ASCII"), value);
        match sets.last_mut() {
            Some((set, true)) => Vec::push(set, field),
            _ => sets.push((vec![field], false)),
        }
        if let Some(last) = sets.last_mut() {
            last.1 = end == Some(b'+');
        }
    }
    sets.into_iter().map(|(set, _)| set).collect()
}

fn digit(byte: Option<u8>) -> u8 {
    byte.and_then(|byte| (byte as char).to_digit(16)).expect("a hexadecimal digit") as u8
}
