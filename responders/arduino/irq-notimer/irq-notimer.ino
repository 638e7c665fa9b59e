// Raises pin 3 when pin 2 rises: by an interrupt, with no other interrupt enabled. Without that of
// Timer0 there are no millis() and no delay().

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
  bitClear(TIMSK0, TOIE0);
}

void loop() {
}
