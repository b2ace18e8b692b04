package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "0d80690614de21e2"
