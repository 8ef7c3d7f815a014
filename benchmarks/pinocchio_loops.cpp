// Loops of Pinocchio's functions over many samples, on threads: of these it has none itself.
//
// A column of q, v and tau is a sample. The functions are those in Pinocchio's own library.

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/crba.hpp>

#include <string>
#include <thread>
#include <vector>

using pinocchio::Data;
using pinocchio::JointModel;
using pinocchio::Model;

namespace {

struct Loops {
  Model model;
  std::vector<Data> data;
};

using Columns = Eigen::Map<const Eigen::MatrixXd>;

// Makes a joint by the short name of its model and its axis; false where there is no such name.
bool make_joint(const std::string &name, const Eigen::Vector3d &axis, JointModel &joint) {
  if (name == "JointModelRX") joint = pinocchio::JointModelRX();
  else if (name == "JointModelRY") joint = pinocchio::JointModelRY();
  else if (name == "JointModelRZ") joint = pinocchio::JointModelRZ();
  else if (name == "JointModelPX") joint = pinocchio::JointModelPX();
  else if (name == "JointModelPY") joint = pinocchio::JointModelPY();
  else if (name == "JointModelPZ") joint = pinocchio::JointModelPZ();
  else if (name == "JointModelRevoluteUnaligned")
    joint = pinocchio::JointModelRevoluteUnaligned(axis);
  else if (name == "JointModelPrismaticUnaligned")
    joint = pinocchio::JointModelPrismaticUnaligned(axis);
  else if (name == "JointModelSpherical") joint = pinocchio::JointModelSpherical();
  else return false;
  return true;
}

template <typename Function>
void on_threads(Loops *loops, int count, Function compute) {
  const int threads = static_cast<int>(loops->data.size());
  const auto part = [&](int k) {
    for (int i = count * k / threads; i < count * (k + 1) / threads; ++i)
      compute(loops->data[k], i);
  };
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back(part, k);
  part(0);
  for (auto &each : others) each.join();
}

template <typename Matrix>
double *put(const Matrix &found, double *out) {
  Eigen::Map<Eigen::MatrixXd>(out, found.rows(), found.cols()) = found;
  return out + found.size();
}

}  // namespace

extern "C" {

Loops *new_loops() { return new Loops; }

// Its placement is a matrix of 4 x 4, its inertia mass, centre of mass and moments about that.
// False where no joint has this name.
bool add_joint(Loops *loops, const char *name, int parent, const double *axis,
               const double *placement, double mass, const double *centre, const double *moments) {
  Model &model = loops->model;
  JointModel joint;
  if (!make_joint(name, Eigen::Map<const Eigen::Vector3d>(axis), joint)) return false;
  const Eigen::Map<const Eigen::Matrix4d> T(placement);
  const Eigen::Map<const Eigen::Vector3d> c(centre);
  const Eigen::Map<const Eigen::Matrix3d> I(moments);
  const pinocchio::SE3 place(Eigen::Matrix4d(T.transpose()));
  const auto id = model.addJoint(parent, joint, place, std::to_string(model.njoints));
  model.appendBodyToJoint(id, pinocchio::Inertia(mass, c, I), pinocchio::SE3::Identity());
  return true;
}

void begin(Loops *loops, int threads, const double *gravity) {
  loops->model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  loops->data.assign(threads, Data(loops->model));
}

void mass_matrices(Loops *loops, int count, const double *q, double *out) {
  const Model &model = loops->model;
  const Columns positions(q, model.nq, count);
  on_threads(loops, count, [&](Data &data, int i) {
    const Eigen::VectorXd at = positions.col(i);
    put(pinocchio::crba(model, data, at), out + static_cast<long>(i) * model.nv * model.nv);
  });
}

void forward_dynamics_derivatives(Loops *loops, int count, const double *q, const double *v,
                                  const double *tau, double *out) {
  const Model &model = loops->model;
  const Columns positions(q, model.nq, count), velocities(v, model.nv, count);
  const Columns efforts(tau, model.nv, count);
  on_threads(loops, count, [&](Data &data, int i) {
    const Eigen::VectorXd at = positions.col(i), rate = velocities.col(i), effort = efforts.col(i);
    double *const found = out + 3L * i * model.nv * model.nv;
    pinocchio::computeABADerivatives(model, data, at, rate, effort);
    put(data.Minv, put(data.ddq_dv, put(data.ddq_dq, found)));
  });
}

}  // extern "C"
