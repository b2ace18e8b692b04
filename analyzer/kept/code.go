package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "bc8994ff4fdd0b7b"
