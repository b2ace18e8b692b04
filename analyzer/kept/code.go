package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "b8a6c0ca454ac8de"
