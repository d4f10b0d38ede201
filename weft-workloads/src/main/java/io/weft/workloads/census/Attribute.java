// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import java.util.Arrays;
import java.util.List;

/// One of the 14 attributes of a person and the run of binary features that encodes it.
sealed interface Attribute {

  /// Returns the name in the description of the data set.
  String title();

  /// Returns the number of binary features.
  int width();

  /// Returns the feature that is 1 for this text, -1 if the text is not a value of this attribute.
  int code(String text);

  /// Returns the allowed texts, for errors.
  String allowed();

  /// A number, divided into bins.
  ///
  /// @param bounds the least value of each bin except the first
  record Continuous(String title, List<Integer> bounds) implements Attribute {

    /// Copies the bounds.
    public Continuous {
      bounds = List.copyOf(bounds);
    }

    @Override
    public int width() {
      return bounds.size() + 1;
    }

    @Override
    public int code(String text) {
      if (text.isEmpty()
          || text.length() > 9
          || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return -1;
      }
      int value = Integer.parseInt(text);
      return (int) bounds.stream().filter(bound -> value >= bound).count();
    }

    @Override
    public String allowed() {
      return "a whole number";
    }
  }

  /// One of a set of words, one feature each.
  record Discrete(String title, List<String> words) implements Attribute {

    /// Returns an attribute with the words in the order of their features.
    static Discrete of(String title, String words) {
      return new Discrete(title, Arrays.asList(words.split(" ", -1)));
    }

    /// Copies the words.
    public Discrete {
      words = List.copyOf(words);
    }

    @Override
    public int width() {
      return words.size();
    }

    @Override
    public int code(String text) {
      return words.indexOf(text);
    }

    @Override
    public String allowed() {
      return "one of " + String.join(", ", words);
    }
  }
}
