// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import com.fasterxml.jackson.annotation.JsonValue;
import io.weft.file.ForeignFile;
import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import io.weft.workloads.report.MeasuredHost;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/// The figures of one contestant for one case: names with their values, in the order of the report.
/// It is one JSON object. A figure that does not apply is absent.
///
/// @param values numbers, texts, lists, nested figures, and the host
public record Figure(@JsonValue Map<String, Object> values) {

  private static final JsonMapper MAPPER = new JsonMapper();
  private static final MathContext SIX_DIGITS = new MathContext(6);
  private static final int MOST_BYTES = 1 << 24;

  /// Copies the map.
  public Figure {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  /// Creates figures that have only the name of their benchmark.
  public static Figure of(String benchmark) {
    return new Figure(Map.of("benchmark", benchmark));
  }

  /// Returns these figures and one more at the end, which is omitted if `value` is null.
  public Figure with(String name, @Nullable Object value) {
    if (value == null) {
      return this;
    }
    Map<String, Object> more = new LinkedHashMap<>(values);
    more.put(name, value);
    return new Figure(more);
  }

  /// Returns whether the report has a value of this name.
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /// Returns a value. Throws `NullPointerException` with the name if it is absent.
  public Object value(String name) {
    return Objects.requireNonNull(values.get(name), name);
  }

  /// Returns a number. Throws `NullPointerException` with the name if it is absent.
  public double number(String name) {
    return ((Number) value(name)).doubleValue();
  }

  /// Returns a whole number. Throws `NullPointerException` with the name if it is absent.
  public long integer(String name) {
    return ((Number) value(name)).longValue();
  }

  /// Returns a number, or `otherwise` if it is absent.
  public double number(String name, double otherwise) {
    return has(name) ? number(name) : otherwise;
  }

  /// Returns a value as text, an empty text if it is absent.
  public String text(String name) {
    return Objects.toString(values.get(name), "");
  }

  /// Returns a list of numbers, an empty list if it is absent.
  public List<Double> numbers(String name) {
    return values.get(name) instanceof List<?> list
        ? list.stream().map(each -> ((Number) each).doubleValue()).toList()
        : List.of();
  }

  /// Returns nested figures. Throws `NullPointerException` with the name if they are absent.
  public Figure part(String name) {
    return (Figure) value(name);
  }

  /// Returns the machine, null for simulated figures.
  public @Nullable MeasuredHost host() {
    return (MeasuredHost) values.get("host");
  }

  /// Returns whether a compared result was wrong.
  public boolean isWrong() {
    return Boolean.FALSE.equals(values.get("checked"));
  }

  /// Returns `value` with six significant digits.
  public static double rounded(double value) {
    return new BigDecimal(value).round(SIX_DIGITS).doubleValue();
  }

  /// Returns the middle number, or the mean of the middle two.
  public static double median(List<Double> numbers) {
    List<Double> sorted = numbers.stream().sorted().toList();
    int upper = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(upper)
        : (sorted.get(upper - 1) + sorted.get(upper)) / 2;
  }

  /// Writes a report in JSON with one object per line, replacing `file`.
  public static void write(Path file, List<Figure> figures) throws IOException {
    String lines =
        figures.stream()
            .map(each -> MAPPER.writeValueAsString(each) + "\n")
            .collect(Collectors.joining());
    NewFile.write(file, lines.getBytes(StandardCharsets.UTF_8));
  }

  /// Reads the output of `tools/simulate TOOL --json`. Throws `IllegalArgumentException` for
  /// another file.
  public static List<Figure> simulated(Path file, String tool, String benchmark) {
    try {
      List<Figure> figures =
          ForeignFile.named(file).text(MOST_BYTES).lines().map(Figure::parse).toList();
      for (Figure figure : figures) {
        if (!Boolean.TRUE.equals(figure.values.get("simulated"))
            || !benchmark.equals(figure.values.get("benchmark"))) {
          throw new IllegalArgumentException(
              "--simulated: " + file + " has a line that is not from tools/simulate " + tool);
        }
      }
      return figures;
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--simulated: cannot read " + file + ": " + IoErrors.reason(e), e);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("--simulated: " + file + " has a line without JSON", e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Figure parse(String line) {
    return new Figure(MAPPER.readValue(line, Map.class));
  }
}
