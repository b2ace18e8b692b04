package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "bb2f77d1ee0d22c3"
