// JSON: its numbers keep every bit.
#include "runtime/job_record.hpp"

#include <nlohmann/json.hpp>

#include "data/errors.hpp"

namespace rubato::runtime {

namespace {

using nlohmann::json;

json json_of(const data::Cursor& cursor) {
  return {cursor.update,   cursor.row,       cursor.epoch,
          cursor.position, cursor.minibatch, cursor.samples};
}

data::Cursor cursor_of(const json& list) {
  return {list.at(0), list.at(1), list.at(2), list.at(3), list.at(4), list.at(5)};
}

json json_of(const std::vector<NamedSums>& all) {
  json list = json::array();
  for (const NamedSums& sums : all) list.push_back(text_of(sums));
  return list;
}

std::vector<NamedSums> all_sums(const json& list) {
  std::vector<NamedSums> all;
  for (const json& sums : list) all.push_back(named_sums(sums));
  return all;
}

json json_of(const AccumulatorRecord& record) {
  return {{"epoch", record.epoch ? json(*record.epoch) : json()},
          {"number", record.number},
          {"sums", text_of(record.sums)},
          {"shown_outside", json_of(record.shown_outside)},
          {"shown_in_epoch", json_of(record.shown_in_epoch)}};
}

AccumulatorRecord accumulator_of(const json& object) {
  AccumulatorRecord record;
  if (!object.at("epoch").is_null()) record.epoch = object.at("epoch").get<std::uint64_t>();
  object.at("number").get_to(record.number);
  record.sums = named_sums(object.at("sums"));
  record.shown_outside = all_sums(object.at("shown_outside"));
  record.shown_in_epoch = all_sums(object.at("shown_in_epoch"));
  return record;
}

}  // namespace

std::string text_of(const JobRecord& record) {
  json loaders = json::array();
  for (const data::Cursor& cursor : record.loaders) loaders.push_back(json_of(cursor));
  json accumulators = json::array();
  for (const AccumulatorRecord& one : record.accumulators) accumulators.push_back(json_of(one));
  return json{{"restarts", record.restarts},
              {"epochs", record.done.epochs},
              {"loops_in_epoch", record.done.loops_in_epoch},
              {"loops_outside", record.done.loops_outside},
              {"loaders", loaders},
              {"accumulators", accumulators}}
      .dump();
}

JobRecord job_record(const std::string& text) {
  try {
    const json object = json::parse(text);
    JobRecord record;
    object.at("restarts").get_to(record.restarts);
    object.at("epochs").get_to(record.done.epochs);
    object.at("loops_in_epoch").get_to(record.done.loops_in_epoch);
    object.at("loops_outside").get_to(record.done.loops_outside);
    for (const json& list : object.at("loaders")) record.loaders.push_back(cursor_of(list));
    for (const json& one : object.at("accumulators")) {
      record.accumulators.push_back(accumulator_of(one));
    }
    return record;
  } catch (const json::exception& error) {
    throw data::ContentError(std::string("the checkpoint's record of its job: ") + error.what());
  }
}

}  // namespace rubato::runtime
