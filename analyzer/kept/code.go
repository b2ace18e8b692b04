package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "a4cbb72b3e8d4779"
