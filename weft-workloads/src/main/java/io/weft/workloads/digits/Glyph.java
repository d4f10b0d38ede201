// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.digits;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/// The strokes of one character, in a box of 100 by 100.
///
/// @param marks the path, command by command
record Glyph(List<Mark> marks) {

  private static final int CURVE_PIECES = 8;
  private static final double DEGREES_PER_PIECE = 24;

  /// Copies the marks.
  Glyph {
    marks = List.copyOf(marks);
  }

  /// One command of a path.
  sealed interface Mark {}

  /// The start of a stroke.
  record Move(double x, double y) implements Mark {}

  /// A cubic curve to (x, y); lines and quadratic curves are cubic curves too.
  record Curve(double x1, double y1, double x2, double y2, double x, double y) implements Mark {}

  /// A straight line to (x, y).
  record Line(double x, double y) implements Mark {}

  /// An elliptic arc, in degrees clockwise from the right. A line joins it to the preceding point.
  record Arc(double x, double y, double rx, double ry, double from, double to) implements Mark {}

  /// A receiver of straight pieces of strokes.
  @FunctionalInterface
  interface Pen {
    void line(double fromX, double fromY, double toX, double toY);
  }

  /// Parses a path: M x y, L x y, Q and C as in SVG with absolute numbers, and A cx cy rx ry from
  /// to.
  static Glyph parse(String path) {
    String[] words = path.split(" ", -1);
    var marks = new ArrayList<Mark>();
    double x = 0;
    double y = 0;
    int w = 0;
    while (w < words.length) {
      char command = words[w++].charAt(0);
      double[] n = new double[numbers(command)];
      for (int i = 0; i < n.length; i++) {
        n[i] = Double.parseDouble(words[w++]);
      }
      marks.add(
          switch (command) {
            case 'M' -> new Move(n[0], n[1]);
            case 'L' -> new Line(n[0], n[1]);
            case 'Q' ->
                new Curve(
                    (x + 2 * n[0]) / 3,
                    (y + 2 * n[1]) / 3,
                    (n[2] + 2 * n[0]) / 3,
                    (n[3] + 2 * n[1]) / 3,
                    n[2],
                    n[3]);
            case 'C' -> new Curve(n[0], n[1], n[2], n[3], n[4], n[5]);
            default -> new Arc(n[0], n[1], n[2], n[3], n[4], n[5]);
          });
      x = command == 'A' ? n[0] + n[2] * cos(n[5]) : n[n.length - 2];
      y = command == 'A' ? n[1] + n[3] * sin(n[5]) : n[n.length - 1];
    }
    return new Glyph(marks);
  }

  private static int numbers(char command) {
    return switch (command) {
      case 'M', 'L' -> 2;
      case 'Q' -> 4;
      case 'C', 'A' -> 6;
      default -> throw new IllegalArgumentException("no path command '" + command + "'");
    };
  }

  /// Draws all strokes. Each coordinate is first mapped by `wobble`, which makes each drawing of
  /// the glyph slightly different.
  void draw(DoubleUnaryOperator wobble, Pen pen) {
    var hand = new Hand(pen);
    for (Mark mark : marks) {
      switch (mark) {
        case Move m -> hand.move(wobble.applyAsDouble(m.x), wobble.applyAsDouble(m.y));
        case Line l -> hand.to(wobble.applyAsDouble(l.x), wobble.applyAsDouble(l.y));
        case Curve c ->
            hand.curve(
                new Curve(
                    wobble.applyAsDouble(c.x1),
                    wobble.applyAsDouble(c.y1),
                    wobble.applyAsDouble(c.x2),
                    wobble.applyAsDouble(c.y2),
                    wobble.applyAsDouble(c.x),
                    wobble.applyAsDouble(c.y)));
        case Arc a ->
            hand.arc(
                new Arc(
                    wobble.applyAsDouble(a.x),
                    wobble.applyAsDouble(a.y),
                    wobble.applyAsDouble(a.rx),
                    wobble.applyAsDouble(a.ry),
                    a.from,
                    a.to));
      }
    }
  }

  private static double cos(double degrees) {
    return StrictMath.cos(StrictMath.toRadians(degrees));
  }

  private static double sin(double degrees) {
    return StrictMath.sin(StrictMath.toRadians(degrees));
  }

  /// The current position of the drawing.
  private static final class Hand {
    private final Pen pen;
    private double x = Double.NaN;
    private double y = Double.NaN;

    Hand(Pen pen) {
      this.pen = pen;
    }

    void move(double toX, double toY) {
      x = toX;
      y = toY;
    }

    void to(double toX, double toY) {
      if (!Double.isNaN(x)) {
        pen.line(x, y, toX, toY);
      }
      move(toX, toY);
    }

    void curve(Curve c) {
      double x0 = x;
      double y0 = y;
      for (int p = 1; p <= CURVE_PIECES; p++) {
        double t = (double) p / CURVE_PIECES;
        to(bezier(t, x0, c.x1, c.x2, c.x), bezier(t, y0, c.y1, c.y2, c.y));
      }
    }

    void arc(Arc a) {
      int pieces = (int) StrictMath.ceil(StrictMath.abs(a.to - a.from) / DEGREES_PER_PIECE);
      for (int p = 0; p <= pieces; p++) {
        double degrees = a.from + (a.to - a.from) * p / pieces;
        to(a.x + a.rx * cos(degrees), a.y + a.ry * sin(degrees));
      }
    }

    private static double bezier(double t, double a, double b, double c, double d) {
      double s = 1 - t;
      return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
    }
  }
}
