package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "df71ab685ab03a29"
