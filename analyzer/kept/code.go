package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "ff2073ab199a065f"
