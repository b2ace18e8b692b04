package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "6aa3e2ed5966b009"
