package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "2410fd0a60b58168"
