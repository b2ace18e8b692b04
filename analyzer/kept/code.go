package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "ce32bd26d1ea5237"
