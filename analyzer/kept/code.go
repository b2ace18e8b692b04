package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "cb4ad321cc917f39"
