package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "3c6996ad2c0ce070"
