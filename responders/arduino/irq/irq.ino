// Raises pin 3 when pin 2 rises: by an interrupt.

const int input = 2;
const int output = 3;

void answer() {
  digitalWrite(output, HIGH);
  delayMicroseconds(50);
  digitalWrite(output, LOW);
}

void setup() {
  pinMode(input, INPUT);
  pinMode(output, OUTPUT);
  attachInterrupt(digitalPinToInterrupt(input), answer, RISING);
}

void loop() {
}
