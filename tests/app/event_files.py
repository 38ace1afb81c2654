"""Reads TensorBoard's event files, independently of the program that writes them: the messages are
declared here from TensorBoard's documented field numbers, checksums are computed bit by bit.

Needs Python's protobuf.
"""

import struct

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

START = 1  # of SessionLog.Status


def _declared():
    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="events.proto", package="reader",
                                              syntax="proto2")
    messages = {
        "Value": [("tag", 1, types.TYPE_STRING), ("simple_value", 2, types.TYPE_FLOAT)],
        "Summary": [("value", 1, "Value")],
        "SessionLog": [("status", 1, types.TYPE_INT32), ("checkpoint_path", 2, types.TYPE_STRING),
                       ("msg", 3, types.TYPE_STRING)],
        "Event": [("wall_time", 1, types.TYPE_DOUBLE), ("step", 2, types.TYPE_INT64),
                  ("file_version", 3, types.TYPE_STRING), ("summary", 5, "Summary"),
                  ("session_log", 7, "SessionLog")],
    }
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            label = types.LABEL_REPEATED if field == "value" else types.LABEL_OPTIONAL
            entry = message.field.add(name=field, number=number, label=label)
            if isinstance(kind, str):
                entry.type, entry.type_name = types.TYPE_MESSAGE, f".reader.{kind}"
            else:
                entry.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("reader.Event"))


Event = _declared()


def crc32c(data):
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ (0x82F63B78 if remainder & 1 else 0)
    return remainder ^ 0xFFFFFFFF


def masked_crc32c(data):
    checksum = crc32c(data)
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The contents of all whole records; a torn one at the end is left out, as readers do."""
    place = 0
    while place + 12 <= len(data):
        length, checksum = struct.unpack_from("<QI", data, place)
        if checksum != masked_crc32c(data[place:place + 8]):
            raise ValueError(f"the length at byte {place} has a wrong checksum")
        end = place + 12 + length
        if end + 4 > len(data):
            return
        content = data[place + 12:end]
        if struct.unpack_from("<I", data, end)[0] != masked_crc32c(content):
            raise ValueError(f"the record at byte {place} has a wrong checksum")
        yield content
        place = end + 4


def events_of(file):
    """Nothing unknown is in them."""
    events = [Event.FromString(record) for record in records(file.read_bytes())]
    for event in events:
        if any(message.UnknownFields() for message in (event, event.summary, event.session_log)):
            raise ValueError(f"{file}: unknown fields in {event}")
    return events


def event_files(directory):
    return sorted(directory.glob("*tfevents*"))


def curves(directory):
    """Each tag's points (step, value, wall time) as TensorBoard shows them: a start voids those
    of its step and later ones."""
    values = {}
    for file in event_files(directory):
        for event in events_of(file):
            if event.session_log.status == START:
                for tag, steps in values.items():
                    values[tag] = [one for one in steps if one[0] < event.step]
            for value in event.summary.value:
                values.setdefault(value.tag, []).append(
                    (event.step, value.simple_value, event.wall_time))
    return values


def curves_by_order(directory):
    """The same as TensorBoard's quick loader has it: a step that comes again voids later ones."""
    values = {}
    for file in event_files(directory):
        for event in events_of(file):
            for value in event.summary.value:
                before = [one for one in values.get(value.tag, []) if one[0] < event.step]
                values[value.tag] = [*before, (event.step, value.simple_value, event.wall_time)]
    return values
