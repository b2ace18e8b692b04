package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "3a1a7db0f30d0240"
