package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "814c66bb057f8a3e"
