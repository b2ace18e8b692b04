package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "f2a7117733f929d1"
