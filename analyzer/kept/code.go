package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "a8e8815c3a0df886"
