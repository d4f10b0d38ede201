// SPDX-License-Identifier: Apache-2.0
package com.example.digits;

import java.util.Random;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.types.TFloat32;

/// Images of seven-segment digits at random positions, with noise.
final class Digits {

  static final int SIDE = 12;
  static final int CLASSES = 10;

  /// Segments of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
  private static final int[] SEGMENTS = {
    0b1110111, 0b0010010, 0b1011101, 0b1011011, 0b0111010,
    0b1101011, 0b1101111, 0b1010010, 0b1111111, 0b1111011
  };

  /// The row, column, height and width of each segment.
  private static final int[][] STROKES = {
    {0, 0, 1, 5}, {0, 0, 5, 1}, {0, 4, 5, 1}, {4, 0, 1, 5}, {4, 0, 5, 1}, {4, 4, 5, 1}, {8, 0, 1, 5}
  };

  private Digits() {}

  /// Returns the digit in image `index`.
  static int label(int index) {
    return Math.floorMod(index * 7, CLASSES);
  }

  /// Returns images, of shape rows by side by side by 1; equal for equal indices.
  static TFloat32 images(int[] indices) {
    TFloat32 images = TFloat32.tensorOf(Shape.of(indices.length, SIDE, SIDE, 1));
    for (int row = 0; row < indices.length; row++) {
      var random = new Random(indices[row]);
      int top = random.nextInt(SIDE - 9 + 1);
      int left = random.nextInt(SIDE - 5 + 1);
      float[][] pixels = new float[SIDE][SIDE];
      for (int s = 0; s < STROKES.length; s++) {
        if ((SEGMENTS[label(indices[row])] >> (STROKES.length - 1 - s) & 1) == 1) {
          int[] stroke = STROKES[s];
          for (int y = 0; y < stroke[2]; y++) {
            for (int x = 0; x < stroke[3]; x++) {
              pixels[top + stroke[0] + y][left + stroke[1] + x] = 1;
            }
          }
        }
      }
      for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
          images.setFloat(pixels[y][x] + 0.2f * (float) random.nextGaussian(), row, y, x, 0);
        }
      }
    }
    return images;
  }

  /// Returns one-hot labels, of shape rows by classes.
  static TFloat32 labels(int[] indices) {
    TFloat32 labels = TFloat32.tensorOf(Shape.of(indices.length, CLASSES));
    for (int row = 0; row < indices.length; row++) {
      for (int c = 0; c < CLASSES; c++) {
        labels.setFloat(label(indices[row]) == c ? 1 : 0, row, c);
      }
    }
    return labels;
  }
}
