package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "afd8b74fd45625e9"
