/// What a backend is: the one interface that a file such as openvino.cpp implements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace opconform {

/// An array of one element type, in row-major order.
struct Tensor {
    std::string element_type;
    std::vector<std::size_t> shape;
    std::vector<std::uint8_t> bytes;  ///< Little-endian; a type narrower than a byte has one element a byte.
    std::vector<std::string> texts;   ///< In the place of bytes, the elements of a string tensor, in UTF-8.
};

using Inputs = std::map<std::string, Tensor>;
using Outputs = std::vector<Tensor>;

/// What executed a case, as far as the backend can say.
struct Placement {
    std::vector<std::string> devices;  ///< By the backend's own names.
    std::optional<int> threads;
};

/// The outputs of each feed, and what executed them.
struct PlacedOutputs {
    std::vector<Outputs> feeds;
    Placement placement;
};

/// One input of a case. A constant is part of the model, and among the inputs of a feed all the same.
struct Input {
    std::string name;
    std::string element_type;
    std::string role;     ///< control where its values decide what the operation does, tensor where they are data
    std::string binding;  ///< constant or parameter
};

/// What a backend may want to know of case.json.
struct Case {
    std::string id;
    std::string op;        ///< The operation under test.
    nlohmann::json graph;  ///< The nodes and outputs, which the model of a dialect holds too.
    std::vector<Input> inputs;
};

/// What a backend says of itself.
struct Implementation {
    std::string name;
    std::string version;
    std::string device;
    std::string hardware;  ///< The device's full name; empty where the backend cannot say.
    std::string driver;    ///< The device's driver or plugin with its version; empty where the backend cannot say.
    std::vector<std::string> dialects;
    std::vector<std::string> element_types;
    std::vector<std::string> operations;  ///< Empty for a backend that takes whatever its dialects can express.
    bool dynamic;
    std::vector<std::string> bindings;
};

/// Thrown where the backend refuses a case as invalid.
struct Rejected : std::runtime_error {
    Rejected(std::string stage, const std::string& message, std::optional<std::string> requirement = std::nullopt)
        : std::runtime_error(message), stage(std::move(stage)), requirement(std::move(requirement)) {}

    std::string stage;                       ///< build or run
    std::optional<std::string> requirement;  ///< The requirement that the message speaks of, where one can tell.
};

/// Thrown where the backend says that it does not implement what the case needs.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Something that can execute a case. Whatever else it throws is a failure of the harness.
class Backend {
public:
    virtual ~Backend() = default;

    virtual Implementation describe() const = 0;

    /// The outputs of each feed, all of them on one built model, in order.
    /// The model is empty for a backend that declares no dialects.
    /// A case that another device than the named one executes is Unsupported.
    virtual PlacedOutputs run(const Case& asked, const std::filesystem::path& model,
                              const std::vector<Inputs>& feeds) = 0;
};

/// The backend on a device; an empty name is its default device. Throws std::exception where it cannot be used.
std::unique_ptr<Backend> make_backend(const std::string& device);

}  // namespace opconform
