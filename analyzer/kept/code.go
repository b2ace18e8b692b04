package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "c8f5ab2b60f6a294"
