package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "a729dd3f4671f615"
