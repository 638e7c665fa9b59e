//! Protocol Buffers encoding, as far as traces and metrics need it.

/// A message that is being written.
#[derive(Clone, Default, Debug)]
pub struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    pub fn number(mut self, field: u32, value: u64) -> ProtoMessage {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// Adds bytes, a text or another message.
    pub fn bytes(mut self, field: u32, value: &[u8]) -> ProtoMessage {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub fn message(self, field: u32, value: &ProtoMessage) -> ProtoMessage {
        self.bytes(field, &value.0)
    }

    pub fn text(self, field: u32, value: &str) -> ProtoMessage {
        self.bytes(field, value.as_bytes())
    }

    /// Adds a signed number in ZigZag encoding.
    pub fn signed(self, field: u32, value: i64) -> ProtoMessage {
        self.number(field, (value << 1 ^ value >> 63) as u64)
    }

    pub fn double(mut self, field: u32, value: f64) -> ProtoMessage {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// The message after its length.
    pub fn delimited(&self) -> Vec<u8> {
        let mut all = ProtoMessage::default();
        all.varint(self.0.len() as u64);
        all.0.extend_from_slice(&self.0);
        all.0
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_tagged_and_lengths_told() {
        let inner = ProtoMessage::default().number(1, 150);
        let outer = ProtoMessage::default().message(3, &inner).text(2, "hi");
        assert_eq!(outer.as_bytes(), [0x1a, 3, 8, 0x96, 1, 0x12, 2, b'h', b'i']);
        assert_eq!(outer.delimited()[..2], [9, 0x1a]);
    }

    #[test]
    fn signs_and_fractions() {
        let signed = ProtoMessage::default().signed(1, -1).signed(1, 1).signed(1, i64::MIN);
        assert_eq!(signed.as_bytes()[..4], [8, 1, 8, 2]);
        assert_eq!(signed.as_bytes()[5..], [[0xff; 9].as_slice(), &[1]].concat());
        assert_eq!(ProtoMessage::default().double(2, 1.0).as_bytes()[..1], [0x11]);
    }
}
