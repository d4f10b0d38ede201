// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import io.weft.workloads.census.Attribute.Continuous;
import io.weft.workloads.census.Attribute.Discrete;
import java.util.List;

/// The encoding of the 14 attributes as 123 binary features, like LIBSVM's a9a. Discrete attributes
/// have a feature per word, in the order of the data set's description. Continuous attributes have
/// one per bin, most of them fifths of the training set. A missing value sets no feature.
final class Encoding {

  /// The total number of features.
  static final int FEATURES = 123;

  static final List<Attribute> ATTRIBUTES =
      List.of(
          new Continuous("age", List.of(26, 33, 41, 50)),
          Discrete.of(
              "workclass",
              "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay"
                  + " Never-worked"),
          new Continuous("fnlwgt", List.of(106_648, 158_662, 196_338, 259_873)),
          Discrete.of(
              "education",
              "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th"
                  + " 12th Masters 1st-4th 10th Doctorate 5th-6th Preschool"),
          new Continuous("education-num", List.of(9, 10, 11, 13)),
          Discrete.of(
              "marital-status",
              "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent"
                  + " Married-AF-spouse"),
          Discrete.of(
              "occupation",
              "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty"
                  + " Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing"
                  + " Transport-moving Priv-house-serv Protective-serv Armed-Forces"),
          Discrete.of(
              "relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
          Discrete.of("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
          Discrete.of("sex", "Female Male"),
          new Continuous("capital-gain", List.of(1)),
          new Continuous("capital-loss", List.of(1)),
          new Continuous("hours-per-week", List.of(35, 40, 41, 48)),
          Discrete.of(
              "native-country",
              "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc)"
                  + " India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland"
                  + " Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos"
                  + " Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand"
                  + " Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"));

  private Encoding() {}

  /// Sets the features of one person in `row`, which must be all zeros. Returns the attribute whose
  /// text is not allowed, -1 if all texts are allowed.
  static int encode(List<String> texts, byte[] row) {
    int first = 0;
    for (int a = 0; a < ATTRIBUTES.size(); a++) {
      Attribute attribute = ATTRIBUTES.get(a);
      if (!texts.get(a).equals("?")) {
        int code = attribute.code(texts.get(a));
        if (code < 0) {
          return a;
        }
        row[first + code] = 1;
      }
      first += attribute.width();
    }
    return -1;
  }
}
