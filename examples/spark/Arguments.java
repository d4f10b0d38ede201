// SPDX-License-Identifier: Apache-2.0
package examples.spark;

/// The whole numbers on the command line of a program. A wrong one ends the program with exit code
/// 2 and a message.
record Arguments(String[] words) {

  /// Returns the number at a position, or the default if the command line is shorter.
  ///
  /// @param name of the number in the message
  int number(int at, String name, int byDefault, int least, int most) {
    if (at >= words.length) {
      return byDefault;
    }
    try {
      int number = Integer.parseInt(words[at]);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // The message below is for both cases.
    }
    System.err.printf("%s: expected %d to %d, not '%s'%n", name, least, most, words[at]);
    System.exit(2);
    return byDefault;
  }
}
