package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "781c9da0c4670d4a"
