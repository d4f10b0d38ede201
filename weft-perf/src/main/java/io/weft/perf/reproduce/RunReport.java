// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.process.PerfException;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MappingIterator;
import tools.jackson.databind.json.JsonMapper;

/// The JSON objects that a command has written.
///
/// @param command name of the command, for messages
/// @param objects the objects, at least one
record RunReport(String command, List<JsonNode> objects) {

  private static final JsonMapper MAPPER = new JsonMapper();

  RunReport {
    objects = List.copyOf(objects);
    if (objects.isEmpty()) {
      throw new PerfException.Failed(command + ": its report is empty");
    }
  }

  /// Parses a report: one object, or one on each line. Throws `PerfException.Failed`.
  static RunReport parse(String command, String text) {
    try (MappingIterator<JsonNode> values = MAPPER.readerFor(JsonNode.class).readValues(text)) {
      List<JsonNode> objects = new ArrayList<>();
      while (values.hasNextValue()) {
        objects.add(values.nextValue());
      }
      return new RunReport(command, objects);
    } catch (JacksonException malformed) {
      throw new PerfException.Failed(
          command + ": its report is not JSON: " + malformed.getOriginalMessage(), malformed);
    }
  }

  /// Returns the objects whose field has this value, as text. Throws `PerfException.Failed` if
  /// there are none.
  RunReport where(String field, String value) {
    return those(
        objects.stream().filter(each -> each.path(field).asString("").equals(value)).toList(),
        field + " = " + value);
  }

  /// Returns the figures of Weft's peer. Throws `PerfException.Failed` if there are none.
  RunReport peer() {
    return those(
        objects.stream()
            .filter(each -> !each.path("peer").asString("weft").startsWith("weft"))
            .toList(),
        "a peer");
  }

  private RunReport those(List<JsonNode> found, String description) {
    if (found.isEmpty()) {
      throw new PerfException.Failed(
          "%s: its report has no object with %s".formatted(command, description));
    }
    return new RunReport(command, found);
  }

  /// Returns whether the first object has this number.
  boolean has(String pointer) {
    return objects.getFirst().at(pointer).isNumber();
  }

  /// Returns a number of the first object. Throws `PerfException.Failed` if it is absent.
  ///
  /// @param pointer JSON pointer, such as `/steady/samplesPerSecond`
  double number(String pointer) {
    return number(objects.getFirst(), pointer);
  }

  /// Returns a number of each object. Throws `PerfException.Failed` if one is absent.
  List<Double> numbers(String pointer) {
    return objects.stream().map(each -> number(each, pointer)).toList();
  }

  /// Returns the texts of an array of the first object.
  List<String> texts(String pointer) {
    List<String> texts = new ArrayList<>();
    objects.getFirst().at(pointer).forEach(each -> texts.add(each.asString("")));
    return texts;
  }

  private double number(JsonNode object, String pointer) {
    JsonNode found = object.at(pointer);
    if (!found.isNumber()) {
      throw new PerfException.Failed(
          "%s: its report has no number %s".formatted(command, pointer.substring(1)));
    }
    return found.asDouble();
  }
}
