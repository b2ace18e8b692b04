package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "f3478d8272c88c26"
