//! Messages of Protocol Buffers, as far as a trace needs them.

/// A message that is being written.
#[derive(Clone, Default, Debug)]
pub struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    /// Adds a whole number.
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

    /// Adds another message.
    pub fn message(self, field: u32, value: &ProtoMessage) -> ProtoMessage {
        self.bytes(field, &value.0)
    }

    /// Adds a text.
    pub fn text(self, field: u32, value: &str) -> ProtoMessage {
        self.bytes(field, value.as_bytes())
    }

    /// What is written so far.
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
    }
}
