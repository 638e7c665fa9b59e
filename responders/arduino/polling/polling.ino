// Raises pin 3 when pin 2 rises: by polling.

const int input = 2;
const int output = 3;

void setup() {
  pinMode(input, INPUT);
  pinMode(output, OUTPUT);
}

void loop() {
  while (digitalRead(input) == LOW) {
  }
  digitalWrite(output, HIGH);
  delayMicroseconds(50);
  while (digitalRead(input) == HIGH) {
  }
  digitalWrite(output, LOW);
}
